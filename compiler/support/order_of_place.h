#pragma once

#include <vector>

#include "compiler/support/diagnostics.h"

namespace nnefc {

// Diagnostics as a reader of the document meets them: stages tell theirs one
// after the other, this orders those of a file by where they begin. Files keep
// the order in which they were first told of; so do diagnostics of one place,
// where the first may be the cause of the next.
std::vector<Diagnostic> InOrderOfPlace(std::vector<Diagnostic> diagnostics);

}  // namespace nnefc

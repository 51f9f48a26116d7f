#pragma once

#include <vector>

#include "compiler/support/diagnostics.h"

namespace nnefc {

// Sorts diagnostics into the order of the document: stages report one after the other, while this orders
// those of one file by their start offset. Files stay in the order of their first diagnostic. The sort is
// stable, because the first of several diagnostics at one offset may be the cause of the next.
std::vector<Diagnostic> InOrderOfPlace(std::vector<Diagnostic> diagnostics);

}  // namespace nnefc

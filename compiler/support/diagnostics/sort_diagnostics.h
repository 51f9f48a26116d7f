#pragma once

#include <vector>

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc {

// Returns diagnostics in the order of the document: stages report one after the other, while this sorts
// those of one file by their start offset. Files stay in the order of their first diagnostic. The sort is
// stable, because the first of several diagnostics at one offset may be the cause of the next.
std::vector<Diagnostic> SortedByLocation(std::vector<Diagnostic> diagnostics);

}  // namespace nnefc

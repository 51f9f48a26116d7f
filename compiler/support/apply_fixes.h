#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/diagnostics.h"

namespace nnefc {

struct [[nodiscard]] AppliedFixes {
  std::string text;
  // Indices of the diagnostics whose repairs are in it, in their order.
  std::vector<size_t> applied;
};

// Applies the fix-its of diagnostics to the text of `file`. Those of one
// diagnostic belong together: all are applied or none. They are left out where
// there are none, where one is of another file or outside the text, or where
// one overlaps with another that was applied. Insertions at one place follow
// each other in the order of the diagnostics; equal ones are made once.
AppliedFixes ApplyFixes(std::string_view text, FileId file, const std::vector<Diagnostic>& diagnostics);

}  // namespace nnefc

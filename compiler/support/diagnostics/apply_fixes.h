#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc {

struct [[nodiscard]] AppliedFixes {
  std::string text;
  // Indices of the diagnostics whose fix-its were applied, in order.
  std::vector<size_t> applied;
};

// Applies the fix-its of diagnostics to the text of `file`. The fix-its of one diagnostic are atomic: either
// all are applied or none. A diagnostic is skipped if it has no fix-its, if one of them refers to another
// file or exceeds the text, or if one overlaps an edit that was already applied. Insertions at the same
// offset follow the order of the diagnostics; equal edits are applied once.
AppliedFixes ApplyFixes(std::string_view text, FileId file, const std::vector<Diagnostic>& diagnostics);

}  // namespace nnefc

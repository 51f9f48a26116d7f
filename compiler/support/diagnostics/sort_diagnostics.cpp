// The order of diagnostics in a document.

#include "compiler/support/diagnostics/sort_diagnostics.h"

#include <algorithm>
#include <unordered_map>

namespace nnefc {

std::vector<Diagnostic> SortedByLocation(std::vector<Diagnostic> diagnostics) {
  std::unordered_map<uint32_t, size_t> ranks;
  for (const Diagnostic& diagnostic : diagnostics) {
    ranks.try_emplace(diagnostic.range.file.index, ranks.size());
  }
  std::stable_sort(diagnostics.begin(), diagnostics.end(), [&](const Diagnostic& a, const Diagnostic& b) {
    if (a.range.file.index != b.range.file.index) {
      return ranks.at(a.range.file.index) < ranks.at(b.range.file.index);
    }
    return a.range.begin < b.range.begin;
  });
  return diagnostics;
}

}  // namespace nnefc

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nnefc {

// Returns the difference of two texts in the unified format, with three lines of context; empty if they are
// equal. Time and memory are linear in the texts and quadratic in the number of differing lines, up to a
// limit of 2000; beyond it the whole differing part is replaced.
std::string UnifiedDiff(std::string_view before, std::string_view after, std::string_view before_name,
                        std::string_view after_name);

// A replacement of the lines [begin, end) of a text, counted from 0.
struct LineEdit {
  size_t begin = 0;
  size_t end = 0;
  std::string text;  // whole lines, with their line ends
};

// Returns the edits that change `before` into `after`, in order and disjoint, with the same limits.
std::vector<LineEdit> LineEdits(std::string_view before, std::string_view after);

}  // namespace nnefc

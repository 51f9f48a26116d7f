// The difference of two texts in the unified format.

#include "compiler/support/text/text_diff.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fmt/core.h"

namespace nnefc {
namespace {

constexpr size_t kContext = 3;
// The maximum length of an edit script. Beyond it, everything between the common prefix and suffix is
// replaced.
constexpr int64_t kMaxEdits = 2000;

using Lines = std::vector<std::string_view>;

// Splits a text into lines that include their line ends.
Lines Split(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

enum class Edit : char { kKeep = ' ', kRemove = '-', kInsert = '+' };

// A search for a shortest edit script (E. Myers, "An O(ND) Difference Algorithm and Its Variations") over
// lines [first, end) of both texts; empty if it would be too long.
class EditFinder {
 public:
  EditFinder(const Lines& before, const Lines& after, size_t first, size_t before_end, size_t after_end)
      : before_(before),
        after_(after),
        first_(first),
        n_(static_cast<int64_t>(before_end - first)),
        m_(static_cast<int64_t>(after_end - first)) {}

  std::vector<Edit> Find() {
    const int64_t limit = std::min(n_ + m_, kMaxEdits);
    std::vector<int64_t> furthest(static_cast<size_t>(2 * limit + 3), 0);
    for (int64_t d = 0; d <= limit; ++d) {
      for (int64_t k = -d; k <= d; k += 2) {
        int64_t x = StartOf(furthest, limit, d, k);
        while (x < n_ && x - k < m_ && Same(x, x - k)) ++x;
        furthest[static_cast<size_t>(k + limit + 1)] = x;
        if (x >= n_ && x - k >= m_) return Trace(d, limit);
      }
      // Later rounds only read diagonals -d to d.
      history_.emplace_back(furthest.begin() + (limit + 1 - d), furthest.begin() + (limit + 2 + d));
    }
    return {};
  }

 private:
  bool Same(int64_t x, int64_t y) const {
    return before_[first_ + static_cast<size_t>(x)] == after_[first_ + static_cast<size_t>(y)];
  }
  static bool GoesDown(int64_t d, int64_t k, int64_t left, int64_t right) {
    return k == -d || (k != d && left < right);
  }
  static int64_t StartOf(const std::vector<int64_t>& furthest, int64_t limit, int64_t d, int64_t k) {
    if (d == 0) return 0;
    const auto at = static_cast<size_t>(k + limit + 1);
    return GoesDown(d, k, furthest[at - 1], furthest[at + 1]) ? furthest[at + 1] : furthest[at - 1] + 1;
  }

  // Reconstructs the edits from the end to the start.
  std::vector<Edit> Trace(int64_t d, int64_t) const {
    std::vector<Edit> edits;
    int64_t x = n_;
    int64_t y = m_;
    for (; d > 0; --d) {
      const std::vector<int64_t>& last = history_[static_cast<size_t>(d - 1)];
      auto at = [&](int64_t k) {
        return k < -(d - 1) || k > d - 1 ? int64_t{-1} : last[static_cast<size_t>(k + d - 1)];
      };
      const int64_t k = x - y;
      const bool down = GoesDown(d, k, at(k - 1), at(k + 1));
      const int64_t previous_k = down ? k + 1 : k - 1;
      const int64_t previous_x = at(previous_k);
      const int64_t start = down ? previous_x : previous_x + 1;
      edits.insert(edits.end(), static_cast<size_t>(x - start), Edit::kKeep);
      edits.push_back(down ? Edit::kInsert : Edit::kRemove);
      x = previous_x;
      y = previous_x - previous_k;
    }
    edits.insert(edits.end(), static_cast<size_t>(x), Edit::kKeep);
    std::reverse(edits.begin(), edits.end());
    return edits;
  }

  const Lines& before_;
  const Lines& after_;
  const size_t first_;
  const int64_t n_;
  const int64_t m_;
  std::vector<std::vector<int64_t>> history_;  // per round: the furthest x of each diagonal
};

std::vector<Edit> FindEdits(const Lines& before, const Lines& after) {
  const size_t shorter = std::min(before.size(), after.size());
  size_t head = 0;
  while (head < shorter && before[head] == after[head]) ++head;
  size_t tail = 0;
  while (tail < shorter - head && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) ++tail;
  std::vector<Edit> edits(head, Edit::kKeep);
  const size_t before_end = before.size() - tail;
  const size_t after_end = after.size() - tail;
  std::vector<Edit> middle = EditFinder(before, after, head, before_end, after_end).Find();
  if (middle.empty()) {
    middle.assign(before_end - head, Edit::kRemove);
    middle.insert(middle.end(), after_end - head, Edit::kInsert);
  }
  edits.insert(edits.end(), middle.begin(), middle.end());
  edits.insert(edits.end(), tail, Edit::kKeep);
  return edits;
}

// Returns the range of a hunk's header, such as "3,4".
std::string Place(size_t first, size_t count) {
  if (count == 1) return fmt::format("{}", first + 1);
  return fmt::format("{},{}", count == 0 ? first : first + 1, count);
}

void AppendLine(Edit edit, std::string_view line, std::string& out) {
  out += static_cast<char>(edit);
  out += line;
  if (line.empty() || line.back() != '\n') out += "\n\\ No newline at end of file\n";
}

}  // namespace

std::string UnifiedDiff(std::string_view before, std::string_view after, std::string_view before_name,
                        std::string_view after_name) {
  if (before == after) return "";
  const Lines old_lines = Split(before);
  const Lines new_lines = Split(after);
  const std::vector<Edit> edits = FindEdits(old_lines, new_lines);
  std::string out = fmt::format("--- {}\n+++ {}\n", before_name, after_name);
  size_t old_line = 0;  // at the current edit
  size_t new_line = 0;
  for (size_t i = 0; i < edits.size();) {
    if (edits[i] == Edit::kKeep) {
      ++old_line, ++new_line, ++i;
      continue;
    }
    // A hunk continues while the gap between changes is at most twice the context.
    size_t end = i;
    for (size_t j = i; j < edits.size() && j - end <= 2 * kContext; ++j) {
      if (edits[j] != Edit::kKeep) end = j + 1;
    }
    const size_t lead = std::min(kContext, old_line);
    size_t trail = 0;
    while (trail < kContext && end + trail < edits.size() && edits[end + trail] == Edit::kKeep) ++trail;
    std::string body;
    const size_t old_first = old_line - lead;
    const size_t new_first = new_line - lead;
    for (size_t j = old_first; j < old_line; ++j) AppendLine(Edit::kKeep, old_lines[j], body);
    for (; i < end + trail; ++i) {
      AppendLine(edits[i], edits[i] == Edit::kInsert ? new_lines[new_line] : old_lines[old_line], body);
      if (edits[i] != Edit::kInsert) ++old_line;
      if (edits[i] != Edit::kRemove) ++new_line;
    }
    out += fmt::format("@@ -{} +{} @@\n{}", Place(old_first, old_line - old_first),
                       Place(new_first, new_line - new_first), body);
  }
  return out;
}

std::vector<LineEdit> LineEdits(std::string_view before, std::string_view after) {
  std::vector<LineEdit> line_edits;
  if (before == after) return line_edits;
  const Lines new_lines = Split(after);
  size_t old_line = 0;
  size_t new_line = 0;
  bool continues = false;  // the last edit changed something
  for (const Edit edit : FindEdits(Split(before), new_lines)) {
    if (edit == Edit::kKeep) {
      ++old_line, ++new_line;
      continues = false;
      continue;
    }
    if (!continues) line_edits.push_back({old_line, old_line, {}});
    continues = true;
    if (edit == Edit::kInsert) {
      line_edits.back().text += new_lines[new_line++];
    } else {
      line_edits.back().end = ++old_line;
    }
  }
  return line_edits;
}

}  // namespace nnefc

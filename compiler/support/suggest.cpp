#include "compiler/support/suggest.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

namespace nnefc {
namespace {

// The least number of inserted, removed, replaced and swapped letters, or
// `limit` if it is not below that. Both names have at most 64 letters.
size_t EditDistance(std::string_view a, std::string_view b, size_t limit) {
  std::array<std::array<size_t, 65>, 3> rows;
  for (size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i - 1) % 3];
    const auto& before = rows[(i + 1) % 3];
    row[0] = i;
    size_t least = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
      least = std::min(least, row[j]);
    }
    if (least >= limit + 1) return limit;
  }
  return std::min(rows[a.size() % 3][b.size()], limit);
}

bool EqualsInLowerCase(std::string_view a, std::string_view b) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char left, char right) { return lower(left) == lower(right); });
}

std::string Digits(std::string_view name) {
  std::string digits;
  std::copy_if(name.begin(), name.end(), std::back_inserter(digits),
               [](char c) { return c >= '0' && c <= '9'; });
  return digits;
}

}  // namespace

// A third of the letters may be wrong, at most three; of one or two letters none.
Suggestion::Suggestion(std::string_view wanted)
    : wanted_(wanted), limit_(std::min<size_t>(wanted.size() / 3, 3) + 1) {}

void Suggestion::Offer(std::string_view candidate) {
  if (wanted_.size() > kMaxLength || candidate.size() > kMaxLength || ++offers_ > kMaxOffers) return;
  const size_t difference = wanted_.size() > candidate.size() ? wanted_.size() - candidate.size()
                                                              : candidate.size() - wanted_.size();
  if (difference > limit_) return;
  // `RELU` is one mistake, not four.
  const size_t distance =
      EqualsInLowerCase(wanted_, candidate) ? 1 : EditDistance(wanted_, candidate, limit_ + 1);
  if (candidate == wanted_ || distance > limit_) return;
  if (distance == limit_) {
    if (candidate != best_) is_only_ = false;
    return;
  }
  limit_ = distance;
  best_ = candidate;
  is_only_ = true;
}

bool Suggestion::is_safe() const {
  return is_only_ && Digits(best_) == Digits(wanted_);
}

}  // namespace nnefc

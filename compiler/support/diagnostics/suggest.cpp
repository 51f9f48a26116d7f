// Suggestions for misspelt words.

#include "compiler/support/diagnostics/suggest.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <string>

namespace nnefc {
namespace {

// Returns the minimum number of insertions, deletions, replacements and transpositions, or `limit` if it is
// not smaller. Both names have at most 64 letters.
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

// Returns the letters of a name as a bit set, indexed by character modulo 64.
uint64_t Letters(std::string_view name) {
  uint64_t letters = 0;
  for (char c : name) letters |= uint64_t{1} << (static_cast<unsigned char>(c) % 64);
  return letters;
}

// Returns a lower bound of the edit distance: each edit adds or removes at most one letter of the set.
size_t LeastDistance(uint64_t a, uint64_t b) {
  return static_cast<size_t>(std::max(std::popcount(a & ~b), std::popcount(b & ~a)));
}

// Returns true if the names differ only in case, `_` and `-`.
bool IsSameSpelling(std::string_view a, std::string_view b) {
  const auto take = [](std::string_view& name) {
    name = name.substr(std::min(name.find_first_not_of("_-"), name.size()));
    if (name.empty()) return '\0';
    const char c = name.front();
    name.remove_prefix(1);
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  while (true) {
    const char first = take(a);
    if (first != take(b)) return false;
    if (first == '\0') return true;
  }
}

// Returns true if one name is the other plus at least two letters at its start or end.
bool Contains(std::string_view a, std::string_view b) {
  if (a.size() < b.size()) std::swap(a, b);
  return a.size() > b.size() + 1 && (a.substr(0, b.size()) == b || a.substr(a.size() - b.size()) == b);
}

// Returns how many letters may be wrong in a name of `size` letters. Names of three letters often differ in
// only one (`sum` and `sub`); Distance therefore accepts only a transposed or missing letter there.
size_t LettersWrong(size_t size) {
  if (size < 3) return 0;
  return std::min<size_t>(size / 3, 3);
}

// Returns true if the letters are equal up to their order.
bool IsPermutation(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::is_permutation(a.begin(), a.end(), b.begin());
}

std::string Digits(std::string_view name) {
  std::string digits;
  std::copy_if(name.begin(), name.end(), std::back_inserter(digits),
               [](char c) { return c >= '0' && c <= '9'; });
  return digits;
}

}  // namespace

bool IsOneSlip(std::string_view written, std::string_view meant) {
  const auto mismatch =
      std::mismatch(written.begin(), written.end(), meant.begin(), meant.end()).first - written.begin();
  const auto at = static_cast<size_t>(mismatch);
  if (written.size() == meant.size())
    return at + 1 < written.size() && written[at] == meant[at + 1] && written[at + 1] == meant[at] &&
           written.substr(at + 2) == meant.substr(at + 2);
  if (written.size() + 1 == meant.size()) return written.substr(at) == meant.substr(at + 1);
  // The first mismatch is at the second of two equal letters.
  return written.size() == meant.size() + 1 && at > 0 && written[at] == written[at - 1] &&
         written.substr(at + 1) == meant.substr(at);
}

Suggestion::Suggestion(std::string_view wanted)
    : wanted_(wanted), letters_(Letters(wanted)), limit_(LettersWrong(wanted.size()) + 1) {}

void Suggestion::Offer(std::string_view candidate) {
  if (wanted_.size() > kMaxLength || candidate.size() > kMaxLength || ++offers_ > kMaxOffers) return;
  if (candidate == wanted_) return;
  const size_t distance = Distance(candidate);
  if (distance > limit_) return;
  if (distance == limit_) {
    if (candidate != best_) is_only_ = false;
    return;
  }
  limit_ = distance;
  best_ = candidate;
  is_only_ = true;
}

// Returns 0 if only the spelling differs, otherwise the number of edits; kMaxLength if it is not near.
size_t Suggestion::Distance(std::string_view candidate) const {
  const size_t size = std::max(wanted_.size(), candidate.size());
  if (IsSameSpelling(wanted_, candidate)) return 0;
  if (size - std::min(wanted_.size(), candidate.size()) > limit_) return kMaxLength;
  const bool lacks_letter = candidate.size() == wanted_.size() + 1;
  if (wanted_.size() <= 3 && !lacks_letter && !IsPermutation(wanted_, candidate)) return kMaxLength;
  if (LeastDistance(letters_, Letters(candidate)) > limit_ || Contains(wanted_, candidate)) return kMaxLength;
  return EditDistance(wanted_, candidate, limit_ + 1);
}

bool Suggestion::is_unique() const {
  return is_only_ && Digits(best_) == Digits(wanted_);
}

bool Suggestion::is_typo() const {
  return is_unique() && (is_spelling() || IsOneSlip(wanted_, best_));
}

}  // namespace nnefc

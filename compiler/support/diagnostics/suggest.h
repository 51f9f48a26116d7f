#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nnefc {

// Returns true if `written` differs from `meant` by one doubled or missing letter, or by two adjacent
// transposed letters.
bool IsOneSlip(std::string_view written, std::string_view meant);

// A search for the intended name of a misspelt one: the first candidate that differs only in case, `_` and
// `-`, otherwise one with the least edit distance. That distance must be small relative to the length of the
// name. A word that only contains the other is a different word (`upsample`, `sample`). The work is bounded:
// long names, and candidates after the first kMaxOffers, are skipped.
class Suggestion {
 public:
  explicit Suggestion(std::string_view wanted);
  void Offer(std::string_view candidate);
  // Returns the best candidate as a view of it, or an empty view if none is near.
  std::string_view best() const { return best_; }
  // Returns true if the best candidate differs only in case, `_` and `-`.
  bool is_spelling() const { return !best_.empty() && limit_ == 0; }
  // Returns true if no other candidate is as near and the digits are equal (`conv1` is not a misspelt
  // `conv2`).
  bool is_unique() const;
  // Returns true if a fix may write the candidate: it is unique and differs in spelling only or by one slip.
  // Any other difference only justifies a question.
  bool is_typo() const;

 private:
  static constexpr size_t kMaxLength = 64;
  static constexpr size_t kMaxOffers = 20000;

  size_t Distance(std::string_view candidate) const;

  std::string_view wanted_;
  std::string_view best_;
  uint64_t letters_;
  size_t limit_;  // exclusive bound on the distance of the next candidate
  size_t offers_ = 0;
  bool is_only_ = false;
};

}  // namespace nnefc

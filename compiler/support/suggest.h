#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nnefc {

// True if one letter of `written` is doubled or missing, or two adjacent ones are transposed, for it to be
// `meant`.
bool IsOneSlip(std::string_view written, std::string_view meant);

// Finds the name that a misspelt one was meant to be: the first of those that
// differ in case and `_` alone, else of those with the least edit distance,
// which must be small beside the length of the name. A word that only contains
// the other is another word (`upsample`, `sample`).
// The work is bounded: long names and more than kMaxOffers names are not
// looked at.
class Suggestion {
 public:
  explicit Suggestion(std::string_view wanted);
  void Offer(std::string_view candidate);
  // Empty if no name is near. A view of the candidate.
  std::string_view best() const { return best_; }
  // True if it differs in case, `_` and `-` alone.
  bool is_spelling() const { return !best_.empty() && limit_ == 0; }
  // True if no other name is as near, and the digits are the same (`conv1` is not a misspelt `conv2`).
  bool is_unique() const;
  // True if a fix may write it: it is unique and differs in spelling or by one slip. Any other difference
  // words a question.
  bool is_typo() const;

 private:
  static constexpr size_t kMaxLength = 64;
  static constexpr size_t kMaxOffers = 20000;

  size_t Distance(std::string_view candidate) const;

  std::string_view wanted_;
  std::string_view best_;
  uint64_t letters_;
  size_t limit_;  // a candidate must be nearer than this
  size_t offers_ = 0;
  bool is_only_ = false;
};

}  // namespace nnefc

#pragma once

#include <cstddef>
#include <iterator>

namespace nnefc {

// An input iterator over the characters of a text that records its position, for parsers that do not report
// theirs: `*reached` is one past the last character read. A JSON parser has read a string or name exactly to
// its end when it reports the event.
class CountedText {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountedText(const char* at, const char** reached) : at_(at), reached_(reached) {}
  reference operator*() const { return *at_; }
  CountedText& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  CountedText operator++(int) {
    CountedText before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountedText& a, const CountedText& b) { return a.at_ == b.at_; }
  friend bool operator!=(const CountedText& a, const CountedText& b) { return a.at_ != b.at_; }

 private:
  const char* at_;
  const char** reached_;
};

}  // namespace nnefc

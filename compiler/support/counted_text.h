#pragma once

#include <cstddef>
#include <iterator>

namespace nnefc {

// Characters of a text that tell how many of them were taken, for parsers that
// do not say where they are: `*reached` is behind the last one. A parser of JSON
// has read a string or name exactly up to its end when it tells of it.
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

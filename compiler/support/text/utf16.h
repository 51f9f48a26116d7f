#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace nnefc {

// The length of one UTF-8 character in bytes and in UTF-16 code units. A byte that does not start a character
// counts as one unit.
struct Utf16Character {
  uint32_t bytes = 1;
  int32_t units = 1;
};
Utf16Character Utf16CharacterAt(std::string_view text, size_t at);

// An index that measures parts of a text in UTF-16 code units, in logarithmic time regardless of the length
// of lines. The text must outlive it.
class Utf16Index {
 public:
  explicit Utf16Index(std::string_view text);
  // Returns the number of code units in bytes [begin, end). `begin` is at a character boundary; a character
  // that `end` splits is not counted.
  int32_t Length(uint32_t begin, uint32_t end) const;

 private:
  // The offset after a multi-byte character, and by how much the byte count of the text before it exceeds its
  // code units.
  struct Surplus {
    uint32_t offset;
    uint32_t bytes;
  };
  uint32_t SurplusAt(uint32_t offset) const;

  std::string_view text_;
  std::vector<Surplus> surplus_;
};

}  // namespace nnefc

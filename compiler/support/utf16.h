#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace nnefc {

// A character of UTF-8: how many bytes it has, and how many UTF-16 code units.
// A byte that begins none counts as a character of one unit.
struct Utf16Character {
  uint32_t bytes = 1;
  int32_t units = 1;
};
Utf16Character Utf16CharacterAt(std::string_view text, size_t at);

// Tells lengths in UTF-16 code units of parts of a text, in logarithmic time
// however long its lines are. The text must live as long.
class Utf16Index {
 public:
  explicit Utf16Index(std::string_view text);
  // The code units of bytes [begin, end); `begin` is where a character begins,
  // and one that `end` cuts does not count.
  int32_t Length(uint32_t begin, uint32_t end) const;

 private:
  // Behind a character of several bytes: how many bytes more than code units
  // the text has up to there.
  struct Surplus {
    uint32_t offset;
    uint32_t bytes;
  };
  uint32_t SurplusAt(uint32_t offset) const;

  std::string_view text_;
  std::vector<Surplus> surplus_;
};

}  // namespace nnefc

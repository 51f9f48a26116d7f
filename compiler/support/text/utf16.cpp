// Lengths and offsets in UTF-16 code units.

#include "compiler/support/text/utf16.h"

#include <algorithm>

namespace nnefc {

Utf16Character Utf16CharacterAt(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const uint32_t bytes = first >= 0xf0 && first < 0xf8 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  if (bytes == 1 || first >= 0xf8 || at + bytes > text.size()) return {};
  for (size_t i = at + 1; i < at + bytes; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return {};
  }
  return {bytes, bytes == 4 ? 2 : 1};
}

Utf16Index::Utf16Index(std::string_view text) : text_(text) {
  uint32_t bytes = 0;
  for (uint32_t at = 0; at < text.size();) {
    const Utf16Character character = Utf16CharacterAt(text, at);
    at += character.bytes;
    if (character.bytes == 1) continue;
    bytes += character.bytes - static_cast<uint32_t>(character.units);
    surplus_.push_back({at, bytes});
  }
}

uint32_t Utf16Index::SurplusAt(uint32_t offset) const {
  auto after = std::upper_bound(surplus_.begin(), surplus_.end(), offset,
                                [](uint32_t at, const Surplus& surplus) { return at < surplus.offset; });
  return after == surplus_.begin() ? 0 : std::prev(after)->bytes;
}

int32_t Utf16Index::Length(uint32_t begin, uint32_t end) const {
  // The first byte of the character that `end` is in, if it is in one.
  uint32_t first = end;
  while (first > begin && first < text_.size() && end - first < 4 &&
         (static_cast<unsigned char>(text_[first]) & 0xc0) == 0x80) {
    --first;
  }
  if (first == end || first + Utf16CharacterAt(text_, first).bytes <= end) first = end;
  return static_cast<int32_t>(first - begin - (SurplusAt(first) - SurplusAt(begin)));
}

}  // namespace nnefc

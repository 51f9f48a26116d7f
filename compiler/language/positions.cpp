#include "compiler/language/positions.h"

#include <algorithm>

namespace nnefc::language {
namespace {

// A character of UTF-8: how many bytes it has, and how many UTF-16 code units.
// A byte that begins none counts as one of one.
struct Character {
  uint32_t bytes = 1;
  int32_t units = 1;
};

Character CharacterAt(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const uint32_t bytes = first >= 0xf0 && first < 0xf8 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  if (bytes == 1 || first >= 0xf8 || at + bytes > text.size()) return {};
  for (size_t i = at + 1; i < at + bytes; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return {};
  }
  return {bytes, bytes == 4 ? 2 : 1};
}

}  // namespace

Position PositionAt(const SourceManager& sources, FileId file, uint32_t offset) {
  const std::string_view text = sources.Text(file);
  offset = std::min(offset, static_cast<uint32_t>(text.size()));
  const int line = sources.Position({file, offset}).line;
  Position position{line - 1, 0};
  for (uint32_t at = sources.LineStart(file, line); at < offset;) {
    const Character character = CharacterAt(text, at);
    if (at + character.bytes > offset) break;
    at += character.bytes;
    position.character += character.units;
  }
  return position;
}

PositionMap::PositionMap(const SourceManager& sources, FileId file) : sources_(sources), file_(file) {
  const std::string_view text = sources.Text(file);
  uint32_t bytes = 0;
  for (uint32_t at = 0; at < text.size();) {
    const Character character = CharacterAt(text, at);
    at += character.bytes;
    if (character.bytes == 1) continue;
    bytes += character.bytes - static_cast<uint32_t>(character.units);
    surplus_.push_back({at, bytes});
  }
}

uint32_t PositionMap::SurplusAt(uint32_t offset) const {
  auto after = std::upper_bound(surplus_.begin(), surplus_.end(), offset,
                                [](uint32_t at, const Surplus& surplus) { return at < surplus.offset; });
  return after == surplus_.begin() ? 0 : std::prev(after)->bytes;
}

Position PositionMap::PositionAt(uint32_t offset) const {
  const std::string_view text = sources_.Text(file_);
  offset = std::min(offset, static_cast<uint32_t>(text.size()));
  const int line = sources_.Position({file_, offset}).line;
  const uint32_t begin = sources_.LineStart(file_, line);
  // The bytes of a character that the offset is in do not count.
  uint32_t end = offset;
  while (end > begin && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80 &&
         offset - end < 4) {
    --end;
  }
  if (end != offset && end + CharacterAt(text, end).bytes <= offset) end = offset;
  return {line - 1, static_cast<int32_t>(end - begin - (SurplusAt(end) - SurplusAt(begin)))};
}

uint32_t OffsetAt(const SourceManager& sources, FileId file, Position position) {
  const std::string_view text = sources.Text(file);
  const int32_t last = PositionAt(sources, file, static_cast<uint32_t>(text.size())).line;
  if (position.line < 0) return 0;
  if (position.line > last) return static_cast<uint32_t>(text.size());
  const uint32_t begin = sources.LineStart(file, position.line + 1);
  const std::string_view line = sources.Line(file, position.line + 1);
  uint32_t at = 0;
  for (int32_t left = position.character; left > 0 && at < line.size();) {
    const Character character = CharacterAt(line, at);
    if (character.units > left) break;
    at += character.bytes;
    left -= character.units;
  }
  return begin + at;
}

}  // namespace nnefc::language

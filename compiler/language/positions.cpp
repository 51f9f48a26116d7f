#include "compiler/language/positions.h"

#include <algorithm>

namespace nnefc::language {
Position PositionAt(const SourceManager& sources, FileId file, uint32_t offset) {
  const std::string_view text = sources.Text(file);
  offset = std::min(offset, static_cast<uint32_t>(text.size()));
  const int line = sources.Position({file, offset}).line;
  Position position{line - 1, 0};
  for (uint32_t at = sources.LineStart(file, line); at < offset;) {
    const Utf16Character character = Utf16CharacterAt(text, at);
    if (at + character.bytes > offset) break;
    at += character.bytes;
    position.character += character.units;
  }
  return position;
}

PositionMap::PositionMap(const SourceManager& sources, FileId file)
    : sources_(sources), file_(file), index_(sources.Text(file)) {}

Position PositionMap::PositionAt(uint32_t offset) const {
  offset = std::min(offset, static_cast<uint32_t>(sources_.Text(file_).size()));
  const int line = sources_.Position({file_, offset}).line;
  return {line - 1, index_.Length(sources_.LineStart(file_, line), offset)};
}

uint32_t OffsetAt(const SourceManager& sources, FileId file, Position position) {
  const std::string_view text = sources.Text(file);
  const int32_t last = PositionAt(sources, file, static_cast<uint32_t>(text.size())).line;
  if (position.line < 0) return 0;
  if (position.line > last) return static_cast<uint32_t>(text.size());
  const uint32_t begin = sources.LineStart(file, position.line + 1);
  const std::string_view line = sources.Line(file, position.line + 1);
  uint32_t at = 0;
  for (int32_t left = position.character; at < line.size();) {
    const Utf16Character character = Utf16CharacterAt(line, at);
    if (character.units > left) break;
    at += character.bytes;
    left -= character.units;
  }
  return begin + at;
}

}  // namespace nnefc::language

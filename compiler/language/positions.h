#pragma once

#include <cstdint>
#include <string_view>

#include "compiler/support/source.h"
#include "compiler/support/utf16.h"

namespace nnefc::language {

// A place as editors tell it: 0-based line, and 0-based column in UTF-16 code
// units. Lines end at `\n`; a `\r` before it belongs to the line end.
struct Position {
  int32_t line = 0;
  int32_t character = 0;
  friend bool operator==(Position, Position) = default;
};

// The position of a byte offset; one behind the text counts as its end, one
// within a character as that character.
Position PositionAt(const SourceManager& sources, FileId file, uint32_t offset);

// The byte offset of a position. As in the Language Server Protocol a column
// behind the line's end means that end, a line behind the last the end of the
// text; what is negative counts as 0, and the half of a surrogate pair as the
// character.
uint32_t OffsetAt(const SourceManager& sources, FileId file, Position position);

// Positions of a text in logarithmic time, however long its lines are.
class PositionMap {
 public:
  // The file's text must not change.
  PositionMap(const SourceManager& sources, FileId file);
  // As the function of that name.
  Position PositionAt(uint32_t offset) const;

 private:
  const SourceManager& sources_;
  FileId file_;
  Utf16Index index_;
};

}  // namespace nnefc::language

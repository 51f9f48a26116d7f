#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/support/text/source.h"
#include "compiler/support/text/utf16.h"

namespace nnefc::language {

// The unit of columns: a byte of UTF-8 or a code unit of UTF-16.
enum class PositionEncoding : uint8_t { kUtf8, kUtf16 };

// An editor position: 0-based line, and 0-based column in units of an encoding. Lines end at `\n`; a `\r`
// before it belongs to the line end.
struct Position {
  int32_t line = 0;
  int32_t character = 0;
  friend bool operator==(Position, Position) = default;
};

// Returns the position of a byte offset. An offset past the text means its end; an offset within a character
// means that character.
Position PositionAt(const SourceManager& sources, FileId file, uint32_t offset,
                    PositionEncoding encoding = PositionEncoding::kUtf16);

// Returns the byte offset of a position. As in the Language Server Protocol, a column past the line's end
// means that end, and a line past the last one means the end of the text. Negative numbers count as 0, and
// a column within a character, such as half of a surrogate pair, counts as the character.
uint32_t OffsetAt(const SourceManager& sources, FileId file, Position position,
                  PositionEncoding encoding = PositionEncoding::kUtf16);

// A text that is changed many times, with the places of its lines: a search for them after each change would
// take seconds for an edit of every line.
class EditedText {
 public:
  explicit EditedText(std::string text);

  const std::string& text() const { return text_; }
  std::string Take() && { return std::move(text_); }
  // Same as the free function OffsetAt.
  uint32_t OffsetAt(Position position, PositionEncoding encoding) const;
  // Requires `begin <= end`, both within the text.
  void Replace(uint32_t begin, uint32_t end, std::string_view replacement);

 private:
  std::string text_;
  std::vector<uint32_t> line_starts_;
};

// Converts offsets of one text to positions in logarithmic time, even for long lines.
class PositionMap {
 public:
  // The file's text must not change.
  PositionMap(const SourceManager& sources, FileId file, PositionEncoding encoding);
  // Same as the free function PositionAt.
  Position PositionAt(uint32_t offset) const;

 private:
  const SourceManager& sources_;
  FileId file_;
  PositionEncoding encoding_;
  Utf16Index index_;
};

}  // namespace nnefc::language

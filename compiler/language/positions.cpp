// Conversions between byte offsets and positions of editors.

#include "compiler/language/positions.h"

#include <algorithm>
#include <utility>

namespace nnefc::language {
namespace {

// Returns the width of a character in the units of an encoding.
int32_t UnitsOf(const Utf16Character& character, PositionEncoding encoding) {
  return encoding == PositionEncoding::kUtf16 ? character.units : static_cast<int32_t>(character.bytes);
}

// Returns the offset of the first byte of the character at an offset.
uint32_t CharacterStart(std::string_view text, uint32_t offset) {
  // A character has at most four bytes.
  for (uint32_t back = 1; back <= 3 && back <= offset; ++back) {
    if (offset >= text.size() || (static_cast<unsigned char>(text[offset]) & 0xC0U) != 0x80U) break;
    if (Utf16CharacterAt(text, offset - back).bytes > back) return offset - back;
  }
  return offset;
}

// Returns the offset of a column in a line without its end.
uint32_t OffsetInLine(std::string_view line, int32_t column, PositionEncoding encoding) {
  uint32_t at = 0;
  for (int32_t remaining = column; at < line.size();) {
    const Utf16Character character = Utf16CharacterAt(line, at);
    const int32_t units = UnitsOf(character, encoding);
    if (units > remaining) break;
    at += character.bytes;
    remaining -= units;
  }
  return at;
}

// Appends the offsets after the line ends of `text`, which begins at the offset `begin`.
void AddLineStarts(std::string_view text, uint32_t begin, std::vector<uint32_t>& starts) {
  for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    starts.push_back(begin + static_cast<uint32_t>(at) + 1);
}

}  // namespace

Position PositionAt(const SourceManager& sources, FileId file, uint32_t offset, PositionEncoding encoding) {
  const std::string_view text = sources.Text(file);
  offset = std::min(offset, static_cast<uint32_t>(text.size()));
  const int line = sources.Position({file, offset}).line;
  Position position{line - 1, 0};
  for (uint32_t at = sources.LineStart(file, line); at < offset;) {
    const Utf16Character character = Utf16CharacterAt(text, at);
    if (at + character.bytes > offset) break;
    at += character.bytes;
    position.character += UnitsOf(character, encoding);
  }
  return position;
}

PositionMap::PositionMap(const SourceManager& sources, FileId file, PositionEncoding encoding)
    : sources_(sources), file_(file), encoding_(encoding), index_(sources.Text(file)) {}

Position PositionMap::PositionAt(uint32_t offset) const {
  const std::string_view text = sources_.Text(file_);
  offset = std::min(offset, static_cast<uint32_t>(text.size()));
  const int line = sources_.Position({file_, offset}).line;
  const uint32_t start = sources_.LineStart(file_, line);
  if (encoding_ == PositionEncoding::kUtf8)
    return {line - 1, static_cast<int32_t>(CharacterStart(text, offset) - start)};
  return {line - 1, index_.Length(start, offset)};
}

uint32_t OffsetAt(const SourceManager& sources, FileId file, Position position, PositionEncoding encoding) {
  const std::string_view text = sources.Text(file);
  const auto size = static_cast<uint32_t>(text.size());
  const int32_t last = sources.Position({file, size}).line - 1;
  if (position.line < 0) return 0;
  if (position.line > last) return size;
  const uint32_t begin = sources.LineStart(file, position.line + 1);
  const std::string_view line = sources.Line(file, position.line + 1);
  return begin + OffsetInLine(line, position.character, encoding);
}

EditedText::EditedText(std::string text) : text_(std::move(text)), line_starts_{0} {
  AddLineStarts(text_, 0, line_starts_);
}

uint32_t EditedText::OffsetAt(Position position, PositionEncoding encoding) const {
  if (position.line < 0) return 0;
  const auto line = static_cast<size_t>(position.line);
  if (line >= line_starts_.size()) return static_cast<uint32_t>(text_.size());
  const uint32_t begin = line_starts_[line];
  const size_t end = line + 1 < line_starts_.size() ? line_starts_[line + 1] - 1 : text_.size();
  std::string_view content = std::string_view(text_).substr(begin, end - begin);
  if (content.ends_with('\r')) content.remove_suffix(1);
  return begin + OffsetInLine(content, position.character, encoding);
}

void EditedText::Replace(uint32_t begin, uint32_t end, std::string_view replacement) {
  std::vector<uint32_t> added;
  AddLineStarts(replacement, begin, added);
  const auto first = std::upper_bound(line_starts_.begin(), line_starts_.end(), begin);
  const auto last = std::upper_bound(first, line_starts_.end(), end);
  // Modulo 2^32, like the sums.
  const uint32_t growth = static_cast<uint32_t>(replacement.size()) - (end - begin);
  for (auto start = last; start != line_starts_.end(); ++start) *start += growth;
  text_.replace(begin, end - begin, replacement);
  if (last - first == static_cast<std::ptrdiff_t>(added.size())) {
    std::copy(added.begin(), added.end(), first);
  } else {
    line_starts_.insert(line_starts_.erase(first, last), added.begin(), added.end());
  }
}

}  // namespace nnefc::language

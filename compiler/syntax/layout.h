#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nnefc {

inline constexpr int kIndent = 4;  // blanks of a level

// Text with places where a line may end, and the breaking of it into lines
// (after Oppen, "Prettyprinting"): time and memory in proportion to the text,
// and no recursion however deep groups nest.
//
// Groups nest. One that fits on the rest of its line stays on it. In another
// one the line ends where the next piece would not fit (`kFill`, `kHang`), or
// at every place (`kEach`).
class Layout {
 public:
  enum class Group : uint8_t {
    kFill,  // lines go on at the column where the group began
    kHang,  // the same, but four blanks in, on a new line, where that column is far to the right
    kEach,  // one piece a line, four blanks in
  };

  void Text(std::string_view text);
  void Begin(Group group);
  void End();
  // Where a line may end; a blank stands there otherwise, or nothing. `outdent`
  // blanks are taken from the indentation of the group.
  void Break(bool blank = true, int outdent = 0);
  // `# ..`, behind the text of its line if `trailing`; the line ends with it.
  void Comment(std::string_view text, bool trailing);

  // Bytes of text so far.
  size_t size() const { return text_.size(); }
  // All on one line.
  std::string Flat() const;
  // Lines of at most `width` columns where the groups allow it; the first
  // begins at column `indent`, which is not written.
  std::string Lines(int indent, int width);

 private:
  enum class Kind : uint8_t { kText, kBegin, kEnd, kBreak, kComment };
  struct Token {
    Kind kind;
    Group group = Group::kFill;
    bool flag = false;    // of a break: a blank; of a comment: trailing
    int16_t outdent = 0;  // of a break
    uint32_t begin = 0;   // of the text, also of a comment
    uint32_t length = 0;
    // Of a group: columns up to its end. Of a break: columns up to the next
    // break of the group, or to the end of it and of what must follow.
    int64_t extent = 0;
  };
  class Writer;

  std::string_view TextOf(const Token& token) const {
    return std::string_view(text_).substr(token.begin, token.length);
  }
  void Add(Token token, std::string_view text);
  void Measure();

  std::string text_;
  std::vector<Token> tokens_;
};

}  // namespace nnefc

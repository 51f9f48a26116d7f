#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nnefc::ast {

inline constexpr int kIndent = 4;  // columns per level

// Text with optional line breaks, and the algorithm that chooses them (after Oppen, "Prettyprinting"). Time
// and memory are linear in the text, without recursion for nested groups.
//
// Groups nest. A group that fits on the rest of its line is not broken. Any other group is broken before each
// piece that would not fit (`kFill`, `kHang`), or at every break (`kEach`).
class Layout {
 public:
  enum class Group : uint8_t {
    kFill,  // continuation lines start at the group's first column
    kHang,  // like kFill; a group that starts far to the right moves to a new line, indented by four
    kEach,  // one piece per line, indented by four
  };

  void Text(std::string_view text);
  void Begin(Group group);
  void End();
  // Adds an optional line break, printed as a blank if the line goes on. `outdent` columns are subtracted
  // from the group's indentation.
  void Break(int outdent = 0);
  // Adds a comment `# ..` that ends its line; a `trailing` comment follows the text of its line.
  void Comment(std::string_view text, bool trailing);

  // Returns the number of bytes of text so far.
  size_t size() const { return text_.size(); }
  // Returns the text on one line, without comments.
  std::string Flat() const;
  // Returns lines of at most `width` columns where the groups allow it. The first line begins at column
  // `indent`; that indentation is not written.
  std::string Lines(int indent, int width);

 private:
  enum class Kind : uint8_t { kText, kBegin, kEnd, kBreak, kComment };
  struct Token {
    Kind kind;
    Group group = Group::kFill;
    bool trailing = false;  // a kComment after the text of its line
    int16_t outdent = 0;    // break: subtracted indentation
    uint32_t begin = 0;     // start of the text of a kText or kComment
    uint32_t length = 0;
    // Group: columns up to its end, including the text that must follow on that line. Break: columns up to
    // the next break of the group, or to the group's end and the text that must follow.
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

}  // namespace nnefc::ast

// Tokens of other languages with a certain meaning, such as typographic quotes.

#include "compiler/syntax/parse/mistakes/foreign_tokens.h"

#include <algorithm>
#include <utility>

#include "compiler/syntax/parse/scanner.h"
#include "fmt/core.h"

namespace nnefc::ast::parse {
namespace {

// Maximum bytes of a C comment that a fix-it converts into an NNEF comment.
constexpr uint32_t kMaxFixedComment = 1000;

// A character that looks like a token of NNEF or like a blank.
struct Lookalike {
  std::string_view bytes;
  TokenKind kind;
  std::string_view text;
  std::string_view name;
};

constexpr Lookalike kLookalikes[] = {
    {"\u00A0", TokenKind::kWhiteSpace, " ", "a no-break space (U+00A0)"},
    {"\u2002", TokenKind::kWhiteSpace, " ", "an en space (U+2002)"},
    {"\u2003", TokenKind::kWhiteSpace, " ", "an em space (U+2003)"},
    {"\u2007", TokenKind::kWhiteSpace, " ", "a figure space (U+2007)"},
    {"\u2009", TokenKind::kWhiteSpace, " ", "a thin space (U+2009)"},
    {"\u202F", TokenKind::kWhiteSpace, " ", "a narrow no-break space (U+202F)"},
    {"\u3000", TokenKind::kWhiteSpace, " ", "an ideographic space (U+3000)"},
    {"\u200B", TokenKind::kWhiteSpace, "", "a zero width space (U+200B)"},
    {"\u200C", TokenKind::kWhiteSpace, "", "a zero width non-joiner (U+200C)"},
    {"\u200D", TokenKind::kWhiteSpace, "", "a zero width joiner (U+200D)"},
    {"\u2060", TokenKind::kWhiteSpace, "", "a word joiner (U+2060)"},
    {"\uFEFF", TokenKind::kWhiteSpace, "", "a byte order mark (U+FEFF)"},
    {"\u2010", TokenKind::kMinus, "-", "a hyphen (U+2010)"},
    {"\u2011", TokenKind::kMinus, "-", "a no-break hyphen (U+2011)"},
    {"\u2012", TokenKind::kMinus, "-", "a figure dash (U+2012)"},
    {"\u2013", TokenKind::kMinus, "-", "an en dash (U+2013)"},
    {"\u2014", TokenKind::kMinus, "-", "an em dash (U+2014)"},
    {"\u2212", TokenKind::kMinus, "-", "a minus sign (U+2212)"},
    {"\u2192", TokenKind::kArrow, "->", "an arrow (U+2192)"},
    {"\u00D7", TokenKind::kStar, "*", "a multiplication sign (U+00D7)"},
    {"\u00F7", TokenKind::kSlash, "/", "a division sign (U+00F7)"},
    {"\u2264", TokenKind::kLessEqual, "<=", "a less-than-or-equal sign (U+2264)"},
    {"\u2265", TokenKind::kGreaterEqual, ">=", "a greater-than-or-equal sign (U+2265)"},
    {"\u2260", TokenKind::kNotEqual, "!=", "a not-equal sign (U+2260)"},
    {"\uFF08", TokenKind::kLeftParen, "(", "a full-width parenthesis (U+FF08)"},
    {"\uFF09", TokenKind::kRightParen, ")", "a full-width parenthesis (U+FF09)"},
    {"\uFF0C", TokenKind::kComma, ",", "a full-width comma (U+FF0C)"},
    {"\uFF1A", TokenKind::kColon, ":", "a full-width colon (U+FF1A)"},
    {"\uFF1B", TokenKind::kSemicolon, ";", "a full-width semicolon (U+FF1B)"},
    {"\uFF1D", TokenKind::kAssign, "=", "a full-width equals sign (U+FF1D)"},
};

// A quote that other languages and word processors use around strings.
struct Quotes {
  std::string_view bytes;
  std::string_view name;
};
constexpr Quotes kQuotes[] = {
    {"\u2018", "a typographic quote (U+2018)"},
    {"\u2019", "a typographic quote (U+2019)"},
    {"\u201A", "a typographic quote (U+201A)"},
    {"\u201C", "a typographic quote (U+201C)"},
    {"\u201D", "a typographic quote (U+201D)"},
    {"\u201E", "a typographic quote (U+201E)"},
    {"\u00AB", "a typographic quote (U+00AB)"},
    {"\u00BB", "a typographic quote (U+00BB)"},
    {"\u2032", "a prime (U+2032)"},
    {"\u2033", "a double prime (U+2033)"},
    {"\u00B4", "an acute accent (U+00B4)"},
    {"`", "a grave accent"},
};

// Letters of a script and the ASCII letters that they look like, in the same order.
struct Script {
  std::string_view name;
  std::u32string_view letters;
  std::string_view ascii;
};
constexpr Script kScripts[] = {
    {"Cyrillic",
     U"\u0430\u0410\u0412\u0441\u0421\u0501\u0435\u0415\u041D\u0456\u0406\u0458\u0408\u041A"
     U"\u041C\u043E\u041E\u0440\u0420\u051B\u0455\u0405\u0422\u0475\u051D\u0445\u0425\u0443"
     U"\u04AE\u04BB",
     "aABcCdeEHiIjJKMoOpPqsSTvwxXyYh"},
    {"Greek",
     U"\u0391\u0392\u0395\u0396\u0397\u0399\u039A\u039C\u039D\u039F\u03BF\u03A1\u03A4\u03BD\u03A7\u03A5",
     "ABEZHIKMNOoPTvXY"},
};
// Range of the letters of Latin, Greek, Cyrillic and the scripts that follow in Unicode.
constexpr uint32_t kFirstLetter = 0xC0;
constexpr uint32_t kFirstPunctuation = 0x2000;

// A character, with the ASCII letter, digit or `_` that it looks like, if any.
struct Letter {
  char ascii = '\0';
  uint32_t size = 0;
  uint32_t code_point = 0;
  std::string_view script;
};

Letter LetterAt(std::string_view text, uint32_t at) {
  const auto byte = [&](uint32_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  Letter letter;
  if (byte(0) < 0xC2 || byte(0) >= 0xF0) return letter;
  if (byte(0) < 0xE0) {
    letter.size = 2;
    letter.code_point = (byte(0) & 0x1FU) << 6U | (byte(1) & 0x3FU);
  } else {
    letter.size = 3;
    letter.code_point = (byte(0) & 0x0FU) << 12U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU);
  }
  // The full-width forms have the order of ASCII.
  constexpr uint32_t kFullWidth = 0xFEE0;
  if (letter.code_point > kFullWidth && letter.code_point < kFullWidth + 0x7F) {
    const char c = static_cast<char>(letter.code_point - kFullWidth);
    const bool is_part =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    letter.ascii = is_part ? c : '\0';
    letter.script = "full-width";
  }
  for (const Script& script : kScripts) {
    const size_t index = script.letters.find(static_cast<char32_t>(letter.code_point));
    if (index == std::u32string_view::npos) continue;
    letter.ascii = script.ascii[index];
    letter.script = script.name;
  }
  return letter;
}

class Finder {
 public:
  Finder(std::string_view text, Token token) : text_(text), token_(token) {}

  std::optional<ForeignToken> Find() const {
    switch (token_.kind) {
      case TokenKind::kSlash:
        if (Next() == '/') return LineComment();
        if (Next() == '*') return BlockComment();
        return std::nullopt;
      case TokenKind::kStar:
        if (Next() != '*') return std::nullopt;
        return Spelled(TokenKind::kCaret, 2, "^", "the power of `x` and `n` is written `x ^ n`");
      case TokenKind::kColon:
        if (Next() != '=') return std::nullopt;
        return Spelled(TokenKind::kAssign, 2, "=", "an assignment is written with `=`");
      case TokenKind::kAssign:
        if (Next() != '>') return std::nullopt;
        return Spelled(TokenKind::kArrow, 2, "->", "the arrow is written `->`");
      case TokenKind::kUnterminatedString:
        return String(1);
      case TokenKind::kStringLiteral:
        return TripleQuotes();
      case TokenKind::kLeftBrace:
        return Brace();
      default:
        return Character();
    }
  }

 private:
  char Next() const { return token_.end < text_.size() ? text_[token_.end] : '\0'; }
  // Returns the last non-blank character before the token on its line, or 0.
  char Previous() const {
    uint32_t at = token_.begin;
    while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '\t')) --at;
    return at > 0 && text_[at - 1] != '\n' ? text_[at - 1] : '\0';
  }
  // Returns true if an expression may start here.
  bool IsAtValue() const { return std::string_view("=(,[").find(Previous()) != std::string_view::npos; }
  std::string_view Rest() const { return text_.substr(token_.begin); }
  // Returns the offset of the end of the line that contains `from`.
  uint32_t LineEnd(uint32_t from) const {
    return static_cast<uint32_t>(std::min(text_.find('\n', from), text_.size()));
  }

  ForeignToken Spelled(TokenKind kind, uint32_t length, std::string_view right, std::string message) const {
    const uint32_t end = token_.begin + length;
    return {{kind, token_.begin, end},
            end,
            fmt::format("`{}` is not NNEF: {}", text_.substr(token_.begin, length), message),
            {{token_.begin, end, std::string(right)}}};
  }

  ForeignToken LineComment() const {
    const uint32_t end = LineEnd(token_.begin);
    return {{TokenKind::kWhiteSpace, token_.begin, token_.begin + 2},
            end,
            "`//` begins no comment; `#` does",
            {{token_.begin, token_.begin + 2, "#"}}};
  }

  ForeignToken BlockComment() const {
    const size_t close = text_.find("*/", token_.begin + 2);
    const auto end = static_cast<uint32_t>(close == std::string_view::npos ? text_.size() : close + 2);
    ForeignToken comment{{TokenKind::kWhiteSpace, token_.begin, token_.begin + 2},
                         end,
                         "`/*` begins no comment; `#` begins one that ends with its line",
                         {}};
    if (close == std::string_view::npos) return comment;
    // Text after it on the last line would become part of the comment.
    const std::string_view behind = text_.substr(end, LineEnd(end) - end);
    if (behind.find_first_not_of(" \t\r") != std::string_view::npos) return comment;
    // One edit for all lines; a long text is not rewritten.
    if (end - token_.begin > kMaxFixedComment) return comment;
    std::string right = "#";
    for (char c : text_.substr(token_.begin + 2, close - token_.begin - 2)) {
      right += c;
      if (c == '\n') right += "# ";
    }
    comment.edits.push_back({token_.begin, end, std::move(right)});
    return comment;
  }

  // Recognizes `""".."""`: a string among values, a comment between statements.
  std::optional<ForeignToken> TripleQuotes() const {
    if (token_.end - token_.begin != 2 || Next() != text_[token_.begin]) return std::nullopt;
    const std::string quotes(3, text_[token_.begin]);
    const size_t close = text_.find(quotes, token_.begin + 3);
    if (close == std::string_view::npos) return std::nullopt;
    const auto end = static_cast<uint32_t>(close + 3);
    const std::string_view body = text_.substr(token_.begin + 3, close - token_.begin - 3);
    if (IsAtValue()) {
      if (body.find('\n') != std::string_view::npos) return std::nullopt;
      return ForeignToken{{TokenKind::kStringLiteral, token_.begin + 2, end - 2},
                          end,
                          fmt::format("`{}` quotes no string; `'` and `\"` do", quotes),
                          {{token_.begin, token_.begin + 2, ""}, {end - 2, end, ""}}};
    }
    ForeignToken comment{
        {TokenKind::kWhiteSpace, token_.begin, token_.begin + 3},
        end,
        fmt::format("`{}` begins no comment; `#` begins one that ends with its line", quotes),
        {}};
    const std::string_view behind = text_.substr(end, LineEnd(end) - end);
    if (behind.find_first_not_of(" \t\r") != std::string_view::npos || body.size() > kMaxFixedComment)
      return comment;
    std::string right = body.starts_with(' ') || body.starts_with('\n') ? "#" : "# ";
    for (char c : body) {
      right += c;
      if (c == '\n') right += "# ";
    }
    comment.edits.push_back({token_.begin, end, std::move(right)});
    return comment;
  }

  // Recognizes arguments grouped as in other languages: `{stride: [1,1], 'dilation': [1,1]}`.
  std::optional<ForeignToken> Attributes() const {
    ForeignToken braces{{TokenKind::kWhiteSpace, token_.begin, token_.end}, token_.end, "", {}};
    std::string example;
    Scanner scanner(text_, token_.end);
    int depth = 0;
    constexpr int kMaxTokens = 200;
    Token before = token_;
    uint32_t previous_end = token_.begin;
    braces.edits.push_back({token_.begin, scanner.Next().begin, ""});
    scanner = Scanner(text_, token_.end);
    for (int i = 0; i < kMaxTokens; ++i) {
      const Token token = scanner.Next();
      const bool begins = depth == 0 && (before.begin == token_.begin || before.kind == TokenKind::kComma);
      if (begins && (token.kind == TokenKind::kIdentifier || token.kind == TokenKind::kStringLiteral)) {
        const bool is_quoted = token.kind == TokenKind::kStringLiteral;
        const Token name{TokenKind::kIdentifier, token.begin + is_quoted, token.end - is_quoted};
        const Token colon = Scanner(text_, token.end).Next();
        if (colon.kind != TokenKind::kColon || name.begin == name.end) return std::nullopt;
        if (is_quoted) {
          braces.edits.push_back({token.begin, token.end, std::string(name.Text(text_))});
          braces.later.push_back(name);
        }
        braces.edits.push_back({colon.begin, colon.end, " ="});
        braces.later.push_back({TokenKind::kAssign, colon.begin, colon.end});
        if (example.empty()) example = name.Text(text_);
      } else if (begins) {
        return std::nullopt;
      }
      if (depth == 0 && token.kind == TokenKind::kRightBrace) {
        if (example.empty()) return std::nullopt;
        braces.edits.push_back({previous_end, token.end, ""});
        braces.later.push_back({TokenKind::kWhiteSpace, token.begin, token.end});
        braces.message = fmt::format("arguments are written without braces: `{} = ..`", example);
        return braces;
      }
      if (IsOpening(token.kind) || token.kind == TokenKind::kLeftBrace) ++depth;
      if (IsClosing(token.kind) || token.kind == TokenKind::kRightBrace) --depth;
      if (depth < 0 || token.kind == TokenKind::kSemicolon || token.kind == TokenKind::kEndOfText)
        return std::nullopt;
      previous_end = token.end;
      before = token;
    }
    return std::nullopt;
  }

  // Recognizes arrays in braces: `shape = {1,2}`
  std::optional<ForeignToken> Brace() const {
    if (!IsAtValue()) return std::nullopt;
    if (Previous() != '=' && Previous() != '[') {
      if (auto attributes = Attributes()) return attributes;
    }
    constexpr uint32_t kLongest = 1000;
    const uint32_t line_end = std::min(LineEnd(token_.begin), token_.begin + kLongest);
    int depth = 0;
    for (uint32_t at = token_.begin; at < line_end && text_[at] != ';'; ++at) {
      if (text_[at] == '{') ++depth;
      if (text_[at] != '}' || --depth > 0) continue;
      return ForeignToken{{TokenKind::kLeftBracket, token_.begin, token_.end},
                          token_.end,
                          "an array stands in `[` and `]`",
                          {{token_.begin, token_.end, "["}, {at, at + 1, "]"}},
                          {{TokenKind::kRightBracket, at, at + 1}},
                          {}};
    }
    return std::nullopt;
  }

  // Recognizes `\` at the end of a line.
  std::optional<ForeignToken> Continuation() const {
    const uint32_t end = LineEnd(token_.begin);
    const std::string_view behind = text_.substr(token_.end, end - token_.end);
    if (behind.find_first_not_of(" \t\r") != std::string_view::npos) return std::nullopt;
    return ForeignToken{{TokenKind::kWhiteSpace, token_.begin, token_.end},
                        token_.end,
                        "`\\` begins no token of NNEF; a statement goes on over lines without it",
                        {{token_.begin, token_.end, ""}}};
  }

  // Recognizes `$x`, `%x`, and `%0`, a name that starts with a digit.
  std::optional<ForeignToken> Sigil() const {
    const auto is_part = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    const char before = Previous();
    if (is_part(before) || before == ')' || before == ']') return std::nullopt;  // a remainder
    if (before == '\'' || before == '"') return std::nullopt;                    // a format
    uint32_t end = token_.end;
    while (end < text_.size() && is_part(text_[end])) ++end;
    if (end == token_.end) return std::nullopt;
    const bool is_number = Next() >= '0' && Next() <= '9';
    return ForeignToken{{TokenKind::kIdentifier, is_number ? token_.begin : token_.end, end},
                        end,
                        fmt::format("`{}` begins no name; a letter or `_` does", text_[token_.begin]),
                        {{token_.begin, token_.end, is_number ? "_" : ""}}};
  }

  std::optional<ForeignToken> Character() const {
    for (const Lookalike& lookalike : kLookalikes) {
      if (Rest().starts_with(lookalike.bytes)) return Replaced(lookalike);
    }
    for (const Quotes& quotes : kQuotes) {
      if (Rest().starts_with(quotes.bytes)) return String(static_cast<uint32_t>(quotes.bytes.size()));
    }
    if (Rest().starts_with("\\")) return Continuation();
    if (Rest().starts_with("$") || Rest().starts_with("%")) return Sigil();
    if (Rest().starts_with("&")) return Spelled(TokenKind::kAnd, 1, "&&", "and is written `&&`");
    if (Rest().starts_with("|")) return Spelled(TokenKind::kOr, 1, "||", "or is written `||`");
    if (Rest().starts_with("~")) return Spelled(TokenKind::kNot, 1, "!", "not is written `!`");
    return std::nullopt;
  }

  // Replaces a confusable such as `→`, or `–>`, an arrow with a dash.
  ForeignToken Replaced(const Lookalike& lookalike) const {
    uint32_t end = token_.begin + static_cast<uint32_t>(lookalike.bytes.size());
    const uint32_t character_end = end;
    TokenKind kind = lookalike.kind;
    if (kind == TokenKind::kMinus && end < text_.size() && text_[end] == '>') {
      kind = TokenKind::kArrow;
      ++end;
    }
    std::string what = fmt::format("{} stands outside a comment", lookalike.name);
    if (lookalike.kind != TokenKind::kWhiteSpace)
      what = fmt::format("{} stands for `{}`", lookalike.name, lookalike.text);
    return {
        {kind, token_.begin, end}, end, what, {{token_.begin, character_end, std::string(lookalike.text)}}};
  }

  // Returns a string with at least one foreign quote, from the opening quote of `size` bytes up to the next
  // quote of any kind on its line.
  std::optional<ForeignToken> String(uint32_t size) const {
    const uint32_t begin = token_.begin + size;
    const uint32_t line_end = LineEnd(begin);
    uint32_t close = begin;
    uint32_t close_size = 0;
    const bool is_straight = text_[token_.begin] == '"' || text_[token_.begin] == '\'';
    for (; close < line_end && close_size == 0; ++close) close_size = QuoteAt(close, !is_straight);
    if (close_size == 0) return std::nullopt;
    --close;
    // Include one byte of each quote, because literals are read without their first and last byte.
    ForeignToken string{{TokenKind::kStringLiteral, begin - 1, close + 1}, close + close_size, "", {}};
    const std::string_view body = text_.substr(begin, close - begin);
    const std::string right = body.find('\'') == std::string_view::npos ? "'" : "\"";
    string.edits.push_back({token_.begin, begin, right});
    string.edits.push_back({close, close + close_size, right});
    const uint32_t wrong = is_straight ? close : token_.begin;
    string.message = fmt::format("{} quotes no string; `'` and `\"` do", NameOfQuote(wrong));
    return string;
  }

  // Returns the number of bytes of the quote at `at`, 0 if there is none. A string that begins with an NNEF
  // quote does not end with the other NNEF quote.
  uint32_t QuoteAt(uint32_t at, bool may_be_straight) const {
    const std::string_view rest = text_.substr(at);
    if (rest.front() == '"' || rest.front() == '\'') return may_be_straight ? 1 : 0;
    for (const Quotes& quotes : kQuotes) {
      if (rest.starts_with(quotes.bytes)) return static_cast<uint32_t>(quotes.bytes.size());
    }
    return 0;
  }

  std::string_view NameOfQuote(uint32_t at) const {
    for (const Quotes& quotes : kQuotes) {
      if (text_.substr(at).starts_with(quotes.bytes)) return quotes.name;
    }
    return "another quote";
  }

  std::string_view text_;
  Token token_;
};

}  // namespace

std::optional<ForeignToken> FindForeignToken(std::string_view text, Token token) {
  return Finder(text, token).Find();
}

std::optional<ForeignToken> FindLookalikeWord(std::string_view text, Token token) {
  std::string word;
  ForeignToken found{token, 0, "", {}, {}, {}};
  uint32_t at = token.begin;
  while (at < text.size()) {
    const char c = text[at];
    const bool is_part =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (is_part) {
      word += c;
      ++at;
      continue;
    }
    const Letter letter = LetterAt(text, at);
    if (letter.ascii == '\0') break;
    if (found.edits.empty()) {
      found.message = fmt::format("`{}` (U+{:04X}, {}) looks like `{}`", text.substr(at, letter.size),
                                  letter.code_point, letter.script, letter.ascii);
    }
    found.edits.push_back({at, at + letter.size, std::string(1, letter.ascii)});
    word += letter.ascii;
    at += letter.size;
  }
  // Other letters resemble no ASCII letter: `größe`
  if (found.edits.empty() ||
      (at < text.size() && static_cast<unsigned char>(text[at]) >= 0xC2 &&
       LetterAt(text, at).code_point >= kFirstLetter && LetterAt(text, at).code_point < kFirstPunctuation)) {
    return std::nullopt;
  }
  const Token kind = Scanner(word).Next();
  if (kind.end != word.size() || (kind.kind != TokenKind::kIdentifier &&
                                  kind.kind != TokenKind::kNumericLiteral && !IsKeyword(kind.kind)))
    return std::nullopt;
  found.token = {kind.kind, token.begin, at};
  found.end = at;
  found.spelling = std::move(word);
  return found;
}

std::string NameOfCharacter(std::string_view bytes) {
  const auto lead = static_cast<unsigned char>(bytes.front());
  const size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 1;
  bool whole = size > 1 && lead < 0xF5 && bytes.size() >= size;
  for (size_t i = 1; whole && i < size; ++i) whole = (static_cast<unsigned char>(bytes[i]) & 0xC0) == 0x80;
  if (whole) return fmt::format("`{}`", bytes.substr(0, size));
  return fmt::format("byte 0x{:02x}", lead);
}

}  // namespace nnefc::ast::parse

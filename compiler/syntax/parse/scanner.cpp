// The scanner: splits a text into tokens.

#include "compiler/syntax/parse/scanner.h"

#include "compiler/syntax/parse.h"

#include <algorithm>
#include <array>

#include "llvm/ADT/StringSwitch.h"

namespace nnefc::ast::parse {
namespace {

enum CharacterClass : uint8_t { kOther, kLetter, kDigit, kSpace };

constexpr std::array<CharacterClass, 256> MakeClasses() {
  std::array<CharacterClass, 256> classes{};
  for (int c = 'a'; c <= 'z'; ++c) classes[static_cast<size_t>(c)] = kLetter;
  for (int c = 'A'; c <= 'Z'; ++c) classes[static_cast<size_t>(c)] = kLetter;
  classes['_'] = kLetter;
  for (int c = '0'; c <= '9'; ++c) classes[static_cast<size_t>(c)] = kDigit;
  for (char c : {' ', '\t', '\v', '\f', '\n'}) classes[static_cast<size_t>(c)] = kSpace;
  return classes;
}
constexpr std::array<CharacterClass, 256> kClasses = MakeClasses();

CharacterClass ClassOf(char c) {
  return kClasses[static_cast<unsigned char>(c)];
}

TokenKind KeywordOrIdentifier(std::string_view word) {
  // Keywords have at least the length of `in` and at most that of `length_of`.
  if (word.size() < 2 || word.size() > 9) return TokenKind::kIdentifier;
  switch (word[0]) {
    case 'e':
    case 'f':
    case 'g':
    case 'i':
    case 'l':
    case 'r':
    case 's':
    case 't':
      break;
    default:
      return TokenKind::kIdentifier;
  }
  return llvm::StringSwitch<TokenKind>(llvm::StringRef(word.data(), word.size()))
      .Case("fragment", TokenKind::kFragment)
      .Case("graph", TokenKind::kGraph)
      .Case("tensor", TokenKind::kTensor)
      .Case("scalar", TokenKind::kScalar)
      .Case("logical", TokenKind::kLogical)
      .Case("string", TokenKind::kString)
      .Case("shape_of", TokenKind::kShapeOf)
      .Case("length_of", TokenKind::kLengthOf)
      .Case("range_of", TokenKind::kRangeOf)
      .Case("for", TokenKind::kFor)
      .Case("in", TokenKind::kIn)
      .Case("if", TokenKind::kIf)
      .Case("else", TokenKind::kElse)
      .Case("true", TokenKind::kTrue)
      .Case("false", TokenKind::kFalse)
      .Default(TokenKind::kIdentifier);
}

}  // namespace

void Scanner::SkipWhiteSpace() {
  while (at_ < text_.size()) {
    if (ClassOf(text_[at_]) == kSpace) {
      ++at_;
    } else if (text_[at_] == '\r' && At(at_ + 1) == '\n') {
      at_ += 2;
    } else {
      return;
    }
  }
}

Token Scanner::Take(TokenKind kind, size_t length) {
  const Token token{kind, static_cast<uint32_t>(at_), static_cast<uint32_t>(at_ + length)};
  at_ += length;
  return token;
}

Token Scanner::Next() {
  SkipWhiteSpace();
  if (at_ >= text_.size()) return Take(TokenKind::kEndOfText, 0);
  const char first = text_[at_];
  switch (ClassOf(first)) {
    case kLetter:
      return Identifier();
    case kDigit:
      return Number();
    default:
      return Punctuation(first);
  }
}

Token Scanner::Punctuation(char first) {
  const char second = At(at_ + 1);
  switch (first) {
    case '(':
      return Take(TokenKind::kLeftParen, 1);
    case ')':
      return Take(TokenKind::kRightParen, 1);
    case '[':
      return Take(TokenKind::kLeftBracket, 1);
    case ']':
      return Take(TokenKind::kRightBracket, 1);
    case '{':
      return Take(TokenKind::kLeftBrace, 1);
    case '}':
      return Take(TokenKind::kRightBrace, 1);
    case ',':
      return Take(TokenKind::kComma, 1);
    case ':':
      return Take(TokenKind::kColon, 1);
    case ';':
      return Take(TokenKind::kSemicolon, 1);
    case '?':
      return Take(TokenKind::kQuestion, 1);
    case '+':
      return Take(TokenKind::kPlus, 1);
    case '*':
      return Take(TokenKind::kStar, 1);
    case '/':
      return Take(TokenKind::kSlash, 1);
    case '^':
      return Take(TokenKind::kCaret, 1);
    case '-':
      return second == '>' ? Take(TokenKind::kArrow, 2) : Take(TokenKind::kMinus, 1);
    case '=':
      return second == '=' ? Take(TokenKind::kEqual, 2) : Take(TokenKind::kAssign, 1);
    case '<':
      return second == '=' ? Take(TokenKind::kLessEqual, 2) : Take(TokenKind::kLess, 1);
    case '>':
      return second == '=' ? Take(TokenKind::kGreaterEqual, 2) : Take(TokenKind::kGreater, 1);
    case '!':
      return second == '=' ? Take(TokenKind::kNotEqual, 2) : Take(TokenKind::kNot, 1);
    case '&':
      return second == '&' ? Take(TokenKind::kAnd, 2) : Unexpected();
    case '|':
      return second == '|' ? Take(TokenKind::kOr, 2) : Unexpected();
    case '\'':
    case '"':
      return String();
    case '#':
      return Comment();
    default:
      return Unexpected();
  }
}

Token Scanner::Identifier() {
  size_t end = at_ + 1;
  while (end < text_.size() && (ClassOf(text_[end]) == kLetter || ClassOf(text_[end]) == kDigit)) ++end;
  if (end == at_ + 1 && text_[at_] == 'i' && (At(end) == '\'' || At(end) == '"')) {
    if (const size_t closed = EndOfString(end)) return Take(TokenKind::kIdentifier, closed - at_);
  }
  return Take(KeywordOrIdentifier(text_.substr(at_, end - at_)), end - at_);
}

Token Scanner::Number() {
  const auto skip_digits = [&](size_t from) {
    while (ClassOf(At(from)) == kDigit) ++from;
    return from;
  };
  size_t end = skip_digits(at_ + 1);
  if (At(end) == '.' && ClassOf(At(end + 1)) == kDigit) end = skip_digits(end + 2);
  if (At(end) == 'e' || At(end) == 'E') {
    const size_t digits = end + (At(end + 1) == '+' || At(end + 1) == '-' ? 2 : 1);
    if (ClassOf(At(digits)) == kDigit) end = skip_digits(digits + 1);
  }
  return Take(TokenKind::kNumericLiteral, end - at_);
}

Token Scanner::String() {
  if (const size_t closed = EndOfString(at_)) return Take(TokenKind::kStringLiteral, closed - at_);
  const size_t end = std::min(text_.find('\n', at_), text_.size());
  return Take(TokenKind::kUnterminatedString, end - at_);
}

size_t Scanner::EndOfString(size_t begin) const {
  const char quote = text_[begin];
  for (size_t end = begin + 1; end < text_.size() && text_[end] != '\n';) {
    if (text_[end] == quote) return end + 1;
    const bool escape = text_[end] == '\\' && end + 1 < text_.size() && text_[end + 1] != '\n';
    end += escape ? 2 : 1;
  }
  return 0;
}

Token Scanner::Comment() {
  size_t end = at_ + 1;
  while (end < text_.size() && text_[end] != '\n' && text_[end] != '\f') ++end;
  return Take(TokenKind::kComment, end - at_);
}

Token Scanner::Unexpected() {
  size_t end = at_ + 1;
  // Include the continuation bytes of a UTF-8 character.
  while (end < text_.size() && (static_cast<unsigned char>(text_[at_]) & 0xC0) == 0xC0 &&
         (static_cast<unsigned char>(text_[end]) & 0xC0) == 0x80) {
    ++end;
  }
  return Take(TokenKind::kUnexpected, end - at_);
}

}  // namespace nnefc::ast::parse

namespace nnefc::ast {

bool IsPlainName(std::string_view text) {
  const parse::Token token = parse::Scanner(text).Next();
  return token.kind == parse::TokenKind::kIdentifier && token.Text(text).size() == text.size() &&
         text.find_first_of("'\"") == std::string_view::npos;
}

std::string NearestName(std::string_view text) {
  std::string name;
  if (text.empty() || parse::ClassOf(text[0]) == parse::kDigit) name = "_";
  for (const char c : text) {
    const bool is_part = parse::ClassOf(c) == parse::kLetter || parse::ClassOf(c) == parse::kDigit;
    name += is_part ? c : '_';
  }
  return name;
}

}  // namespace nnefc::ast

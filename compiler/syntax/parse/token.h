#pragma once

#include <cstdint>
#include <string_view>

namespace nnefc::ast::parse {

// Token kinds with the numbers of NnefLexer.g4; a test compares them.
enum class TokenKind : uint8_t {
  kEndOfText,
  kTypeArgumentOpen,  // the `<` of `name<type>`
  kArgumentName,      // an identifier before `=` inside brackets
  kYield,             // in a comprehension that begins with `for`
  kStatementEnd,      // zero length
  kFragment,
  kGraph,
  kTensor,
  kScalar,
  kLogical,
  kString,
  kShapeOf,
  kLengthOf,
  kRangeOf,
  kFor,
  kIn,
  kIf,
  kElse,
  kTrue,
  kFalse,
  kLeftParen,
  kRightParen,
  kLeftBracket,
  kRightBracket,
  kLeftBrace,
  kRightBrace,
  kComma,
  kColon,
  kSemicolon,
  kAssign,
  kArrow,
  kQuestion,
  kPlus,
  kMinus,
  kStar,
  kSlash,
  kCaret,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kAnd,
  kOr,
  kNot,
  kIdentifier,
  kNumericLiteral,
  kStringLiteral,
  kUnterminatedString,
  kComment,
  kWhiteSpace,  // never produced
  kUnexpected,
};

// A token: bytes [begin, end) of the text.
struct Token {
  TokenKind kind = TokenKind::kEndOfText;
  uint32_t begin = 0;
  uint32_t end = 0;

  std::string_view Text(std::string_view text) const { return text.substr(begin, end - begin); }
};

constexpr bool IsKeyword(TokenKind kind) {
  return kind >= TokenKind::kFragment && kind <= TokenKind::kFalse;
}

constexpr bool IsOpening(TokenKind kind) {
  return kind == TokenKind::kLeftParen || kind == TokenKind::kLeftBracket;
}
constexpr bool IsClosing(TokenKind kind) {
  return kind == TokenKind::kRightParen || kind == TokenKind::kRightBracket;
}

// Returns true for names and literals; they may begin an operand, as brackets may.
constexpr bool BeginsOperand(TokenKind kind) {
  switch (kind) {
    case TokenKind::kIdentifier:
    case TokenKind::kArgumentName:
    case TokenKind::kNumericLiteral:
    case TokenKind::kStringLiteral:
    case TokenKind::kTrue:
    case TokenKind::kFalse:
      return true;
    default:
      return false;
  }
}
// Returns true for tokens that end an operand, so that no name can follow in an expression.
constexpr bool EndsOperand(TokenKind kind) {
  return BeginsOperand(kind) || IsClosing(kind);
}

}  // namespace nnefc::ast::parse

// The part of the parser that builds literals: numbers, strings and their escape sequences.

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "compiler/syntax/parse/ast_builder.h"
#include "compiler/syntax/parse/mistakes/foreign_tokens.h"
#include "compiler/syntax/rules.h"

namespace nnefc::ast::parse {
namespace {

bool IsPrintable(char c) {
  return c >= 0x20 && c < 0x7F;
}

}  // namespace

LiteralBuilder::Built LiteralBuilder::BuildLiteral(Token token) {
  switch (token.kind) {
    case TokenKind::kNumericLiteral:
      return BuildNumber(token, false, Range(token));
    case TokenKind::kStringLiteral: {
      const StringValue value = ReadString(token);
      // An invalid string is reported only once.
      if (!value.is_valid) return Make(Range(token), ErrorExpr{}, 0);
      return Make(Range(token), StringLiteral{value.text}, 0);
    }
    default:
      return Make(Range(token), LogicalLiteral{token.kind == TokenKind::kTrue}, 0);
  }
}

bool LiteralBuilder::IsMinInteger(Token sign, Token literal) const {
  return sign.kind == TokenKind::kMinus && Text(literal) == "9223372036854775808";
}

// `negative` includes the minus sign; the least integer cannot be written otherwise.
LiteralBuilder::Built LiteralBuilder::BuildNumber(Token token, bool negative, SourceRange range) {
  const std::string_view digits = Text(token);
  if (digits.find_first_of(".eE") != std::string_view::npos) return Make(range, ScalarValue(token), 0);
  IntegerLiteral literal;
  const std::string text = negative ? "-" + std::string(digits) : std::string();
  const std::string_view spelled = negative ? std::string_view(text) : digits;
  const auto result = std::from_chars(spelled.data(), spelled.data() + spelled.size(), literal.value);
  if (result.ec == std::errc::result_out_of_range) {
    context_.emitter.Emit(kNumberRange, Range(token), "`{}` does not fit into 64 bits", digits.substr(0, 60));
    return Make(range, ErrorExpr{}, 0);
  }
  // `1.` and `.5` were reported; they are meant as scalars.
  if ((token.end < text_.size() && text_[token.end] == '.') ||
      (token.begin > 0 && text_[token.begin - 1] == '.')) {
    return Make(range, ScalarLiteral{static_cast<double>(literal.value)}, 0);
  }
  return Make(range, literal, 0);
}

ExprNode LiteralBuilder::ScalarValue(Token token) {
  const std::string_view digits = Text(token);
  double value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (result.ec == std::errc::result_out_of_range) {
    // from_chars does not distinguish overflow from underflow; strtod rounds the latter.
    value = std::strtod(std::string(digits).c_str(), nullptr);
    if (std::isinf(value)) {
      context_.emitter.Emit(kNumberRange, Range(token), "`{}` is too large for a scalar",
                            digits.substr(0, 60));
      return ErrorExpr{};
    }
  }
  return ScalarLiteral{value};
}

LiteralBuilder::StringValue LiteralBuilder::ReadString(Token token) {
  const std::string_view text = Text(token);
  // Foreign quotes were reported.
  const bool is_quoted = text.front() == '\'' || text.front() == '"';
  const bool terminated = text.size() >= 2 && (text.back() == text.front() || !is_quoted);
  const std::string_view body = text.substr(1, text.size() - (terminated ? 2 : 1));
  bool plain = true;
  for (const char c : body) plain &= IsPrintable(c) && c != '\\';
  if (plain) return {context_.symbols.Intern(body)};
  std::string value;
  const bool is_valid = Unescape(token, body, value);
  return {context_.symbols.Intern(value), is_valid};
}

namespace {

// Returns the character of an escape sequence, `n` for a line break; 0 if there is none.
char ControlOf(char letter) {
  switch (letter) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case '\'':
    case '"':
      return letter;
    default:
      return '\0';
  }
}

}  // namespace

bool LiteralBuilder::Unescape(Token token, std::string_view body, std::string& value) {
  const char quote = text_[token.begin];
  const uint32_t start = token.begin + 1;
  bool is_valid = true;
  for (size_t i = 0; i < body.size(); ++i) {
    const auto at = static_cast<uint32_t>(start + i);
    const char c = body[i];
    if (c == '\\') {
      const bool escape = i + 1 < body.size() && (body[i + 1] == quote || body[i + 1] == '\\');
      const char control = i + 1 < body.size() ? ControlOf(body[i + 1]) : '\0';
      if (escape) {
        ++i;
      } else if (in_properties_ && control != '\0') {
        value += control;
        ++i;
        continue;
      } else {
        is_valid = false;
        context_.emitter
            .Emit(kInvalidEscape, {document_.file, at, at + 1},
                  "`\\` must be escaped as `\\\\` inside a string")
            .Fix({document_.file, at, at}, "\\");
      }
      value += body[i];
      continue;
    }
    if (!IsPrintable(c) && !in_properties_) {
      is_valid = false;
      size_t end = i + 1;
      while (end < body.size() && !IsPrintable(body[end])) ++end;
      context_.emitter.Emit(kInvalidStringCharacter, {document_.file, at, static_cast<uint32_t>(start + end)},
                            "{} is not printable ASCII and stands inside a string",
                            NameOfCharacter(body.substr(i, end - i)));
      value.append(body.substr(i, end - i));
      i = end - 1;
      continue;
    }
    value += c;
  }
  return is_valid;
}

}  // namespace nnefc::ast::parse

// Parts of StatementReader that join names of other formats and close strings.
#include "compiler/syntax/parse/statement_reader.h"
#include "compiler/syntax/rules.h"
#include "fmt/core.h"

namespace nnefc::ast::parse {
namespace {

const Rule& RuleOf(const UnusualName& name) {
  return name.wrong == name.begin ? kUnexpectedToken : kInvalidCharacter;
}

}  // namespace

// Closes a string that ends with its line. The string ends before trailing brackets and `;`, if these end the
// line.
void StatementReader::CloseString(Token& token) {
  const std::string_view line = Text(token);
  auto report = context_.emitter.Emit(kUnterminatedString, Range(token),
                                      "expected `{}` to end the string before the line ends", line[0]);
  const size_t last = line.find_last_not_of(" \t\r,;)]");
  const bool is_plain = last != std::string_view::npos && last > 0 && last + 1 < line.size() &&
                        line.find_first_of("'\"([=", 1) == std::string_view::npos;
  if (is_plain) {
    token.end = token.begin + static_cast<uint32_t>(last) + 1;
    report.Fix({file_, token.end, token.end}, std::string(1, line[0]));
    scanner_ = Scanner(text_, token.end);
  }
  lexical_errors_.push_back(token.begin);
  token.kind = TokenKind::kStringLiteral;
}

// Joins a use of a name that was replaced at its assignment.
void StatementReader::ReplaceUnusualUse(Token& token) {
  if (token.kind != TokenKind::kIdentifier && token.kind != TokenKind::kNumericLiteral) return;
  const std::optional<UnusualName> name = FindUnusualName(text_, token.begin);
  if (!name) return;
  if (token.kind == TokenKind::kNumericLiteral && token.end == name->end) return;  // a valid number
  const std::string_view written = text_.substr(name->begin, name->end - name->begin);
  const auto known = unusual_names_.find(written);
  if (known == unusual_names_.end()) return;
  token = {TokenKind::kIdentifier, name->begin, name->end};
  scanner_ = Scanner(text_, name->end);
  auto report =
      context_.emitter.Emit(RuleOf(*name), {file_, name->wrong, name->wrong + 1}, "{}", name->Message(text_));
  if (!known->second.empty()) report.Fix(Range(token), known->second);
}

void StatementReader::ReplaceUnusualNames(size_t index, bool is_left_side) {
  constexpr size_t kMaxTokens = 128;
  const size_t first = index;
  for (const size_t end = index + kMaxTokens; index < end; ++index) {
    const Token token = At(index);
    const bool is_subscript = index >= first + 2 && At(index - 1).kind == TokenKind::kLeftBracket &&
                              At(index - 2).kind == TokenKind::kIdentifier;
    if (is_subscript) return;  // `t[0] = x`: a different error
    const bool is_read_ahead = buffer_.size() > start_ + index + 1;
    switch (token.kind) {
      case TokenKind::kLeftParen:
      case TokenKind::kLeftBracket:
      case TokenKind::kRightParen:
      case TokenKind::kRightBracket:
      case TokenKind::kComma:
        break;
      case TokenKind::kArrow:
        if (is_left_side) return;
        break;
      case TokenKind::kIdentifier:
      case TokenKind::kNumericLiteral: {
        if (is_read_ahead) break;
        const std::optional<UnusualName> name = FindUnusualName(text_, token.begin);
        if (name && (!is_left_side || IsLeftSide(text_, name->end))) ReplaceUnusualName(index, *name);
        break;
      }
      default:
        return;
    }
  }
}

void StatementReader::ReplaceUnusualName(size_t index, const UnusualName& name) {
  constexpr size_t kMaxNames = 10'000;
  const std::string_view written = text_.substr(name.begin, name.end - name.begin);
  const bool is_taken =
      unusual_names_.size() >= kMaxNames || text_.find(name.right) != std::string_view::npos;
  auto report =
      context_.emitter.Emit(RuleOf(name), {file_, name.wrong, name.wrong + 1}, "{}", name.Message(text_));
  if (!is_taken) report.Fix({file_, name.begin, name.end}, name.right);
  if (unusual_names_.size() < kMaxNames) unusual_names_.emplace(written, is_taken ? "" : name.right);
  Token& token = buffer_[start_ + index];
  token = {TokenKind::kIdentifier, name.begin, name.end};
  last_ = token;
  scanner_ = Scanner(text_, name.end);
}

// Handles `x.shape` at the `.`. Returns true if reading continues as for `shape_of(x)`.
bool StatementReader::ReplaceShape(Token dot) {
  if (Text(dot) != "." || last_.kind != TokenKind::kIdentifier || last_.end != dot.begin) return false;
  if (buffer_.empty() || buffer_.back().begin != last_.begin) return false;
  const Token word = Scanner(text_, dot.end).Next();
  const TokenKind next = Scanner(text_, word.end).Next().kind;
  if (word.begin != dot.end || Text(word) != "shape") return false;
  if (next == TokenKind::kLeftParen || next == TokenKind::kAssign) return false;
  const Token object = last_;
  context_.emitter
      .Emit(kInvalidCharacter, {file_, dot.begin, word.end}, "the shape of `{0}` is `shape_of({0})`",
            Text(object))
      .Fix({file_, object.begin, word.end}, fmt::format("shape_of({})", Text(object)));
  buffer_.back() = {TokenKind::kShapeOf, object.begin, object.begin};
  buffer_.push_back({TokenKind::kLeftParen, object.begin, object.begin});
  buffer_.push_back(object);
  buffer_.push_back({TokenKind::kRightParen, dot.begin, word.end});
  last_ = buffer_.back();
  scanner_ = Scanner(text_, word.end);
  return true;
}

// Handles `'%s/filter' % scope` at the second `%`, already removed from the statement.
bool StatementReader::ReportFormat(Token percent) {
  if (last_.kind != TokenKind::kStringLiteral) return false;
  const std::string_view literal = Text(last_);
  const std::string_view quote = literal.substr(0, 1);
  const std::string_view body = literal.substr(1, literal.size() - 2);
  const Token value = Scanner(text_, percent.end).Next();
  const size_t at = body.find('%');
  const bool is_single = at != std::string_view::npos && body.find('%', at + 1) == std::string_view::npos &&
                         value.kind == TokenKind::kIdentifier &&
                         Scanner(text_, value.end).Next().kind != TokenKind::kLeftParen;
  const char conversion =
      is_single ? literal[at + 2] : '\0';  // the closing quote, if nothing follows the `%`
  if (conversion != 's' && conversion != 'd' && conversion != 'i') {
    context_.emitter.Emit(kInvalidCharacter, Range(percent),
                          "`%` formats no string; strings are joined: `scope + '/filter'`");
    return true;
  }
  std::string joined = conversion == 's' ? std::string(Text(value)) : fmt::format("string({})", Text(value));
  if (at > 0) joined = fmt::format("{0}{1}{0} + {2}", quote, body.substr(0, at), joined);
  if (at + 2 < body.size()) joined += fmt::format(" + {0}{1}{0}", quote, body.substr(at + 2));
  context_.emitter
      .Emit(kInvalidCharacter, Range(percent), "`%` formats no string; strings are joined: `{}`", joined)
      .Fix({file_, last_.begin, value.end}, joined);
  return true;
}

// Handles `nn.relu(x)` and `x.relu()` at the `.`. Returns true if reading continues as for the unqualified
// operation. The function of the other framework may differ from NNEF's operation of that name, so the fix is
// unsafe.
bool StatementReader::ReplaceQualified(Token dot) {
  if (Text(dot) != "." || last_.kind != TokenKind::kIdentifier || last_.end != dot.begin) return false;
  if (buffer_.empty() || buffer_.back().begin != last_.begin) return false;
  Token name = Scanner(text_, dot.end).Next();
  Token open = Scanner(text_, name.end).Next();
  constexpr int kMaxParts = 16;
  for (int i = 0; i < kMaxParts && open.kind == TokenKind::kUnexpected && Text(open) == "."; ++i) {
    name = Scanner(text_, open.end).Next();
    open = Scanner(text_, name.end).Next();
  }
  if (name.kind != TokenKind::kIdentifier) return false;
  if (open.kind != TokenKind::kLeftParen && open.kind != TokenKind::kLess) return false;
  if (IsModule(Text(last_))) {
    context_.emitter
        .Emit(kInvalidCharacter, {file_, last_.begin, name.begin},
              "operations stand in no module; write `{}` without `{}`", Text(name),
              text_.substr(last_.begin, name.begin - last_.begin))
        .Fix({file_, last_.begin, name.begin}, "", Applicability::kUnsafe);
    buffer_.back() = last_ = name;
    scanner_ = Scanner(text_, name.end);
    return true;
  }
  const Token object = last_;
  if (open.kind != TokenKind::kLeftParen || name.begin != dot.end) return false;
  const bool is_alone = Scanner(text_, open.end).Next().kind == TokenKind::kRightParen;
  context_.emitter
      .Emit(kInvalidCharacter, {file_, object.begin, name.end}, "there are no methods; write `{}({}{})`",
            Text(name), Text(object), is_alone ? "" : ", ..")
      .Fix({file_, object.begin, open.end},
           fmt::format("{}({}{}", Text(name), Text(object), is_alone ? "" : ", "), Applicability::kUnsafe);
  // Replace the tokens by those of the corrected text.
  buffer_.back() = name;
  buffer_.push_back(open);
  buffer_.push_back(object);
  if (!is_alone) buffer_.push_back({TokenKind::kComma, open.begin, open.end});
  last_ = open;
  scanner_ = Scanner(text_, open.end);
  return true;
}

// Handles `version 1.0.5` at the second `.`. Returns true if reading continues after it.
bool StatementReader::ReplaceVersion(Token dot) {
  if (Text(dot) != "." || last_.kind != TokenKind::kNumericLiteral || last_.end != dot.begin) return false;
  if (buffer_.size() < 2 || Text(buffer_[buffer_.size() - 2]) != "version") return false;
  const Token patch = Scanner(text_, dot.end).Next();
  if (patch.kind != TokenKind::kNumericLiteral || patch.begin != dot.end) return false;
  const SourceRange number = {file_, last_.begin, patch.end};
  context_.emitter
      .Emit(kUnsupportedVersion, number, "version `{}` is not supported; expected `1.0`",
            text_.substr(number.begin, number.end - number.begin))
      .Fix(number, "1.0");
  scanner_ = Scanner(text_, patch.end);
  return true;
}

// Offers `matmul(a, b)` for `a @ b` between names that are not operands of other operators.
void StatementReader::FixMatrixProduct(Token at, DiagnosticBuilder& report) {
  const Token right = Scanner(text_, at.end).Next();
  const TokenKind behind = Scanner(text_, right.end).Next().kind;
  if (last_.kind != TokenKind::kIdentifier || right.kind != TokenKind::kIdentifier) return;
  const TokenKind before = KindBefore(buffer_.size() - start_, 2);
  const bool begins =
      before == TokenKind::kAssign || before == TokenKind::kLeftParen || before == TokenKind::kComma;
  const bool ends =
      behind == TokenKind::kSemicolon || behind == TokenKind::kRightParen || behind == TokenKind::kComma;
  if (begins && ends) {
    report.Fix({file_, last_.begin, right.end}, fmt::format("matmul({}, {})", Text(last_), Text(right)));
  }
}

}  // namespace nnefc::ast::parse

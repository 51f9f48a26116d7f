// The reader that collects the tokens of one statement or declaration.

#include "compiler/syntax/parse/statement_reader.h"

#include <algorithm>

#include "compiler/syntax/parse.h"
#include "compiler/syntax/parse/mistakes/foreign_tokens.h"
#include "compiler/syntax/parse/type_names.h"
#include "compiler/syntax/rules.h"
#include "fmt/core.h"

namespace nnefc::ast::parse {
namespace {

constexpr std::string_view kByteOrderMarkBytes = "\xEF\xBB\xBF";

bool IsTypeName(TokenKind kind) {
  switch (kind) {
    case TokenKind::kScalar:
    case TokenKind::kLogical:
    case TokenKind::kString:
    case TokenKind::kQuestion:
    case TokenKind::kIdentifier:
      return true;
    default:
      return false;
  }
}

// Returns true for tokens that end an assignment without being part of it.
bool IsBorder(TokenKind kind) {
  switch (kind) {
    case TokenKind::kEndOfText:
    case TokenKind::kLeftBrace:
    case TokenKind::kRightBrace:
    case TokenKind::kFragment:
    case TokenKind::kGraph:
      return true;
    default:
      return false;
  }
}

}  // namespace

StatementReader::StatementReader(Document& document, Context& context)
    : TokenText(document, context.sources.Text(document.file)),
      document_(document),
      context_(context),
      file_(document.file),
      text_(context.sources.Text(document.file)),
      scanner_(text_, text_.starts_with(kByteOrderMarkBytes) ? 3 : 0) {
  if (text_.starts_with(kByteOrderMarkBytes)) {
    const SourceRange mark{file_, 0, 3};
    context_.emitter.Emit(kByteOrderMark, mark, "the text begins with a byte order mark").Fix(mark, "");
  }
}

bool TokenText::OnLaterLine(Token first, Token second) const {
  if (second.begin <= first.end) return false;
  return text_.substr(first.end, second.begin - first.end).find('\n') != std::string_view::npos;
}

void StatementReader::Retype(TokenKind kind) {
  At(0);
  buffer_[start_].kind = kind;
}

Token StatementReader::Take() {
  const Token token = At(0);
  if (token.kind == TokenKind::kEndOfText) return token;
  if (++start_ == buffer_.size()) {
    buffer_.clear();
    start_ = 0;
  }
  return token;
}

// ---- tokens ----

void StatementReader::Fetch() {
  while (true) {
    Token token = scanner_.Next();
    // The error limit was reached: stop reading.
    if (context_.emitter.exhausted()) token.kind = TokenKind::kEndOfText;
    if (!replacements_.empty() && Replace(token)) continue;
    const bool may_be_lookalike =
        token.kind == TokenKind::kUnexpected ||
        (token.end < text_.size() && static_cast<unsigned char>(text_[token.end]) >= 0x80);
    if (may_be_lookalike) ReplaceLookalike(token);
    if (MayBeForeign(token.kind) && ReplaceForeign(token)) continue;
    if (!unusual_names_.empty()) ReplaceUnusualUse(token);
    switch (token.kind) {
      case TokenKind::kComment:
        KeepComment(token);
        break;
      case TokenKind::kUnexpected: {
        if (ReplaceShape(token) || ReplaceQualified(token) || ReplaceVersion(token)) continue;
        // Report a run of garbage once, not per byte.
        Token following = scanner_.Next();
        while (following.kind == TokenKind::kUnexpected && following.begin == token.end &&
               !FindForeignToken(text_, following)) {
          token.end = following.end;
          following = scanner_.Next();
        }
        ReportUnexpected(token);
        scanner_ = Scanner(text_, following.begin);
        break;
      }
      case TokenKind::kUnterminatedString: {
        CloseString(token);
        buffer_.push_back(token);
        last_ = token;
        return;
      }
      default:
        buffer_.push_back(token);
        last_ = token;
        return;
    }
    last_ = token;
  }
}

// Reports a spelling of another language or word processor and replaces `token` by the right one. Returns
// true if no token remains.
bool StatementReader::ReplaceForeign(Token& token) {
  const std::optional<ForeignToken> foreign = FindForeignToken(text_, token);
  if (!foreign) return false;
  {
    auto report = context_.emitter.Emit(token.kind == TokenKind::kUnexpected           ? kInvalidCharacter
                                        : token.kind == TokenKind::kUnterminatedString ? kUnterminatedString
                                                                                       : kUnexpectedToken,
                                        {file_, token.begin, std::max(foreign->token.end, token.end)}, "{}",
                                        foreign->message);
    for (const ForeignToken::Edit& edit : foreign->edits)
      report.Fix({file_, edit.begin, edit.end}, edit.text);
  }
  for (const Token later : foreign->later)
    replacements_[later.kind == TokenKind::kIdentifier ? later.begin - 1 : later.begin] = later;
  token = foreign->token;
  scanner_ = Scanner(text_, foreign->end);
  return token.kind == TokenKind::kWhiteSpace;
}

// Reports letters of a word that only look like ASCII ones, and continues with the ASCII spelling.
void StatementReader::ReplaceLookalike(Token& token) {
  const bool is_word = token.kind == TokenKind::kIdentifier || token.kind == TokenKind::kNumericLiteral ||
                       token.kind == TokenKind::kUnexpected || IsKeyword(token.kind);
  if (!is_word) return;
  const std::optional<ForeignToken> word = FindLookalikeWord(text_, token);
  if (!word) return;
  const ForeignToken::Edit& first = word->edits.front();
  auto report =
      context_.emitter.Emit(kInvalidCharacter, {file_, first.begin, first.end}, "{}", word->message);
  for (const ForeignToken::Edit& edit : word->edits) report.Fix({file_, edit.begin, edit.end}, edit.text);
  token = word->token;
  document_.respelled[token.begin] = word->spelling;
  scanner_ = Scanner(text_, word->end);
}

// Replaces a token that an earlier error also concerns. Returns true if no token remains.
bool StatementReader::Replace(Token& token) {
  const auto found = replacements_.find(token.begin);
  if (found == replacements_.end()) return false;
  token = found->second;
  replacements_.erase(found);
  return token.kind == TokenKind::kWhiteSpace;
}

void StatementReader::KeepComment(Token comment) {
  Comment kept;
  kept.range = Range(comment);
  if (Text(comment).ends_with('\r')) --kept.range.end;
  kept.trailing = last_.end > 0 && last_.kind != TokenKind::kComment && !OnLaterLine(last_, comment);
  document_.comments.push_back(kept);
}

void StatementReader::ReportUnexpected(Token token) {
  lexical_errors_.push_back(token.begin);
  const std::string_view text = Text(token);
  const auto byte = static_cast<unsigned char>(text[0]);
  if (text == "." && last_.kind == TokenKind::kIdentifier && last_.end == token.begin) {
    context_.emitter.Emit(kInvalidCharacter, Range(token),
                          "`.` cannot be part of a name: names are of letters, digits and `_`");
    return;
  }
  const bool after_digits = last_.kind == TokenKind::kNumericLiteral && last_.end == token.begin;
  const bool before_digits = token.end < text_.size() && text_[token.end] >= '0' && text_[token.end] <= '9';
  if (text == "." && (after_digits || before_digits)) {
    const bool has_exponent = after_digits && Text(last_).find_first_of("eE") != std::string_view::npos;
    const bool has_point = after_digits && (before_digits || Text(last_).find('.') != std::string_view::npos);
    auto report = context_.emitter.Emit(kMalformedNumber, Range(token), "{}",
                                        has_exponent   ? "an exponent has no decimal point"
                                        : has_point    ? "a number has one decimal point"
                                        : after_digits ? "expected a digit after the decimal point"
                                                       : "expected a digit before the decimal point");
    if (has_exponent || has_point) return;  // a digit repairs neither
    if (!before_digits) report.Fix({file_, token.end, token.end}, "0");
    if (!after_digits) report.Fix({file_, token.begin, token.begin}, "0");
    return;
  }
  if (byte < 0x20 || byte == 0x7F) {
    context_.emitter.Emit(kInvalidCharacter, Range(token), "control character 0x{:02x} outside a comment",
                          byte);
  } else if (byte >= 0x80) {
    context_.emitter.Emit(kInvalidCharacter, Range(token), "{} is not ASCII and stands outside a comment",
                          NameOfCharacter(text));
  } else {
    if (text == "%" && ReportFormat(token)) return;
    const std::string_view advice = text == "%"   ? "; there is no remainder"
                                    : text == "@" ? "; `matmul(a, b)` multiplies matrices"
                                                  : "";
    auto report = context_.emitter.Emit(kInvalidCharacter, Range(token), "`{}` begins no token of NNEF{}",
                                        text, advice);
    if (text == "@") FixMatrixProduct(token, report);
  }
}

// ---- statements ----

void StatementReader::Finish(Statement& statement, size_t count, bool with_semicolon) {
  const auto first = buffer_.begin() + static_cast<ptrdiff_t>(start_);
  statement.tokens.assign(first, first + static_cast<ptrdiff_t>(count));
  if (!with_semicolon) {
    const uint32_t end = count > 0 ? statement.tokens.back().end : At(0).begin;
    statement.tokens.push_back({TokenKind::kStatementEnd, end, end});
  }
  start_ += count;
  if (start_ >= buffer_.size() / 2) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<ptrdiff_t>(start_));
    start_ = 0;
  }
  statement.next = At(0);
  statement.has_lexical_error = false;
  // Characters that were read ahead, and those after the `;`, belong to later statements. After a statement
  // without `;`, they may belong to either.
  const uint32_t end = statement.tokens.back().end;
  std::erase_if(lexical_errors_, [&](uint32_t offset) {
    if (offset >= statement.next.begin) return false;
    if (offset < end || !statement.has_semicolon()) statement.has_lexical_error = true;
    return offset < end;
  });
}

// Skips the rest of a statement without storing it.
void StatementReader::FinishTooDeep(Statement& statement, size_t count) {
  context_.emitter.Emit(kNestingLimit, Range(At(count)),
                        "the statement nests more than {} brackets; `--max-nesting` raises the limit",
                        context_.limits.nesting);
  while (!IsBorder(At(count).kind) && At(count).kind != TokenKind::kSemicolon) {
    buffer_.erase(buffer_.begin() + static_cast<ptrdiff_t>(start_ + count));
  }
  const bool with_semicolon = At(count).kind == TokenKind::kSemicolon;
  Finish(statement, count + (with_semicolon ? 1 : 0), with_semicolon);
  statement.too_deep = true;
}

bool StatementReader::Nest(size_t index) {
  switch (At(index).kind) {
    case TokenKind::kLeftParen:
    case TokenKind::kLeftBracket:
    case TokenKind::kIf:
      if (static_cast<int64_t>(open_.size()) >= context_.limits.nesting) return false;
      open_.push_back(At(index).kind);
      break;
    case TokenKind::kFor:
      // Mark the bracket of a comprehension: `yield` may follow.
      if (KindBefore(index, 1) == TokenKind::kLeftBracket && !open_.empty()) open_.back() = TokenKind::kFor;
      break;
    case TokenKind::kIdentifier:
      if (!open_.empty() && Text(At(index)) == "yield") RetypeYield(index);
      break;
    case TokenKind::kElse:
      if (!open_.empty() && open_.back() == TokenKind::kIf) open_.pop_back();
      break;
    case TokenKind::kRightParen:
    case TokenKind::kRightBracket:
      // The `if` of a comprehension ends with the bracket.
      while (!open_.empty() && open_.back() == TokenKind::kIf) open_.pop_back();
      if (!open_.empty()) open_.pop_back();
      break;
    default:
      break;
  }
  return true;
}

void StatementReader::ReadVersion(Statement& statement) {
  statement.too_deep = false;
  size_t count = 0;
  while (true) {
    const Token token = At(count);
    if (token.kind == TokenKind::kSemicolon) return Finish(statement, count + 1, true);
    const bool extension = token.kind == TokenKind::kIdentifier && Text(token) == "extension";
    if (IsBorder(token.kind) || extension || (count > 1 && OnLaterLine(At(count - 1), token))) break;
    ++count;
  }
  Finish(statement, count, false);
}

void StatementReader::ReadExtension(Statement& statement) {
  statement.too_deep = false;
  size_t count = 1;
  while (true) {
    const Token token = At(count);
    if (token.kind == TokenKind::kSemicolon) return Finish(statement, count + 1, true);
    const bool is_header =
        token.kind == TokenKind::kIdentifier &&
        (Text(token) == "extension" || (Text(token) == "version" && OnLaterLine(At(count - 1), token) &&
                                        At(count + 1).kind == TokenKind::kNumericLiteral));
    if (IsBorder(token.kind) || is_header) break;
    ++count;
  }
  Finish(statement, count, false);
}

void StatementReader::ReadDeclaration(Statement& statement) {
  statement.too_deep = false;
  open_.clear();
  size_t count = 1;
  // `graph "net"(`
  if (At(1).kind == TokenKind::kStringLiteral && At(1).end - At(1).begin > 2) {
    At(2);  // read before the text of the name is taken for a token
    Token& name = buffer_[start_ + 1];
    const std::string right = NearestName(text_.substr(name.begin + 1, name.end - name.begin - 2));
    auto report =
        context_.emitter.Emit(kUnexpectedToken, Range(name), "a name stands without quotes, `{}`", right);
    if (IsPlainName(right)) report.Fix(Range(name), right);
    name = {TokenKind::kIdentifier, name.begin + 1, name.end - 1};
  }
  ReplaceUnusualNames(1, false);
  // `graph graph(`: a keyword as the name, not another declaration.
  if ((At(1).kind == TokenKind::kGraph || At(1).kind == TokenKind::kFragment) &&
      At(2).kind == TokenKind::kLeftParen) {
    count = 2;
  }
  while (!IsBorder(At(count).kind) && At(count).kind != TokenKind::kSemicolon) {
    if (!Nest(count)) return FinishTooDeep(statement, count);
    if (At(count).kind == TokenKind::kGreaterEqual) SplitGreaterEqual(count);
    ++count;
  }
  Finish(statement, count, false);
}

void StatementReader::ReadAssignment(Statement& statement) {
  statement.too_deep = false;
  open_.clear();
  bool seen_assign = false;
  size_t count = 0;
  ReplaceUnusualNames(0, true);
  while (!IsBorder(At(count).kind)) {
    switch (At(count).kind) {
      case TokenKind::kSemicolon:
        return Finish(statement, count + 1, true);
      case TokenKind::kAssign: {
        size_t start = 0;
        // The left side has only invalid characters: `y = relu(x)` newline `ü = ..`.
        if (seen_assign && open_.empty() && IsWrongBefore(count)) return Finish(statement, count, false);
        // `a = b = relu(x)` is one statement; the parser reports it in more detail.
        const bool is_chained = seen_assign && open_.empty() && KindBefore(count, 2) == TokenKind::kAssign &&
                                !OnLaterLine(At(count - 2), At(count));
        if (is_chained) break;
        if (BeginsAssignment(count, seen_assign, start)) return Finish(statement, start, false);
        if (open_.empty()) {
          seen_assign = true;
        } else {
          RetypeArgumentName(count);
        }
        break;
      }
      case TokenKind::kIdentifier:
        // `y = relu(x)` newline `z` ..: ends the statement before the `=` is seen.
        if (seen_assign && open_.empty() && EndsOperand(At(count - 1).kind) &&
            OnLaterLine(At(count - 1), At(count))) {
          return Finish(statement, count, false);
        }
        break;
      case TokenKind::kGreater:
      case TokenKind::kLeftParen:
        RetypeTypeArgument(count);
        break;
      default:
        break;
    }
    if (!Nest(count)) return FinishTooDeep(statement, count);
    ++count;
  }
  Finish(statement, count, false);
}

// Returns true if only invalid characters, already reported, precede the token on its line.
bool StatementReader::IsWrongBefore(size_t index) {
  const Token before = At(index - 1);
  const Token token = At(index);
  return OnLaterLine(before, token) &&
         std::any_of(lexical_errors_.begin(), lexical_errors_.end(),
                     [&](uint32_t offset) { return before.end <= offset && offset < token.begin; });
}

// Returns the number of bytes from the start of its line to the token.
size_t StatementReader::Indentation(Token token) const {
  return token.begin - (text_.rfind('\n', token.begin) + 1);  // npos + 1 is the beginning of the text
}

// Returns true if the `=` at `index` belongs to a separate assignment, whose left side begins at `start` > 0.
bool StatementReader::BeginsAssignment(size_t index, bool seen_assign, size_t& start) {
  if (open_.empty()) {
    start = LeftSideStart(index);
    if (start == 0 || start >= index) return false;
    return seen_assign || OnLaterLine(At(start - 1), At(start));
  }
  // Inside brackets, a name before `=` names an argument, except where no argument can begin: `y = conv(x, f`
  // newline `z = relu(y)`.
  start = index - 1;
  if (index < 2 || At(start).kind != TokenKind::kIdentifier) return false;
  const TokenKind before = At(start - 1).kind;
  if (before == TokenKind::kComma || before == TokenKind::kLeftParen) return false;
  // If indented further than the statement, it is an argument that lacks its comma.
  return OnLaterLine(At(start - 1), At(start)) && Indentation(At(start)) <= Indentation(At(0));
}

size_t StatementReader::LeftSideStart(size_t index) {
  size_t start = index;
  while (start > 0) {
    // One item: a name, or brackets back to the opening one, unless these contain arguments: `y = f(x),`
    // newline `z = ..`.
    const size_t behind = start;
    const TokenKind last = At(start - 1).kind;
    if (last == TokenKind::kIdentifier || IsKeyword(last)) {
      --start;
    } else if (last == TokenKind::kRightParen || last == TokenKind::kRightBracket) {
      size_t depth = 0;
      do {
        const TokenKind kind = At(--start).kind;
        if (kind == TokenKind::kRightParen || kind == TokenKind::kRightBracket) ++depth;
        if (kind == TokenKind::kLeftParen || kind == TokenKind::kLeftBracket) --depth;
      } while (depth > 0 && start > 0);
      const bool is_call =
          start > 0 && At(start - 1).kind == TokenKind::kIdentifier && At(start - 1).end == At(start).begin;
      if (is_call) return behind + 1;
    } else {
      return start;
    }
    if (start == 0 || At(start - 1).kind != TokenKind::kComma) return start;
    // `y = x, z = ..`: the `x` is a value, unless it begins a line that the `z` is on.
    if (start > 2 && At(start - 3).kind == TokenKind::kAssign &&
        (OnLaterLine(At(start - 1), At(start)) || !OnLaterLine(At(start - 3), At(start - 2)))) {
      return start;
    }
    --start;
  }
  return start;
}

void StatementReader::ReadQuantization(Statement& statement) {
  statement.too_deep = false;
  open_.clear();
  size_t count = 0;
  while (At(count).kind != TokenKind::kEndOfText) {
    const Token token = At(count);
    if (token.kind == TokenKind::kSemicolon) return Finish(statement, count + 1, true);
    // `"key":` begins the next entry.
    if (token.kind == TokenKind::kColon && count > 1 && At(count - 1).kind == TokenKind::kStringLiteral &&
        OnLaterLine(At(count - 2), At(count - 1))) {
      return Finish(statement, count - 1, false);
    }
    if (token.kind == TokenKind::kGreater || token.kind == TokenKind::kLeftParen) RetypeTypeArgument(count);
    if (token.kind == TokenKind::kAssign) RetypeArgumentName(count);
    if (!Nest(count)) return FinishTooDeep(statement, count);
    ++count;
  }
  Finish(statement, count, false);
}

// Marks the `<` of a type argument: at the `>` of `name<scalar>`, or at the `(` of `name<integer>(`, since
// `integer`, `extent` and type names of other languages may be names of values.
void StatementReader::RetypeTypeArgument(size_t index) {
  const bool at_paren = At(index).kind == TokenKind::kLeftParen;
  if (at_paren && KindBefore(index, 1) != TokenKind::kGreater) return;
  const size_t close = at_paren ? index - 1 : index;
  const TokenKind type = KindBefore(close, 1);
  if (at_paren && RetypeWrongType(close)) return;
  if (!IsTypeName(type) || KindBefore(close, 2) != TokenKind::kLess ||
      KindBefore(close, 3) != TokenKind::kIdentifier) {
    return;
  }
  if (type == TokenKind::kIdentifier && !(at_paren && MayNameType(Text(At(close - 1))))) return;
  buffer_[start_ + close - 2].kind = TokenKind::kTypeArgumentOpen;
}

// Marks the `<` of an invalid type, at the last `>` of `name<'float32'>(`, `name<tensor>(` and
// `name<tensor<scalar>>(`.
bool StatementReader::RetypeWrongType(size_t close) {
  const TokenKind last = KindBefore(close, 1);
  const bool is_tensor = last == TokenKind::kGreater && IsTypeName(KindBefore(close, 2)) &&
                         KindBefore(close, 3) == TokenKind::kLess &&
                         KindBefore(close, 4) == TokenKind::kTensor;
  if (!is_tensor && last != TokenKind::kTensor && last != TokenKind::kStringLiteral) return false;
  const size_t open = is_tensor ? 5 : 2;
  if (KindBefore(close, open) != TokenKind::kLess || KindBefore(close, open + 1) != TokenKind::kIdentifier)
    return false;
  buffer_[start_ + close - open].kind = TokenKind::kTypeArgumentOpen;
  return true;
}

// Marks the `yield` of `[for i in a if c yield e]`, unless it is a value's name.
void StatementReader::RetypeYield(size_t index) {
  const auto bracket =
      std::find_if(open_.rbegin(), open_.rend(), [](TokenKind kind) { return kind != TokenKind::kIf; });
  if (bracket == open_.rend() || *bracket != TokenKind::kFor) return;
  buffer_[start_ + index].kind = TokenKind::kYield;
  // The condition ends here; the body is not nested in it.
  open_.resize(open_.size() - static_cast<size_t>(bracket - open_.rbegin()));
}

// Marks the `axis` of `concat(x, axis = 1)`.
void StatementReader::RetypeArgumentName(size_t index) {
  if (KindBefore(index, 1) != TokenKind::kIdentifier) return;
  const TokenKind before = KindBefore(index, 2);
  if (before != TokenKind::kComma && before != TokenKind::kLeftParen) return;
  buffer_[start_ + index - 1].kind = TokenKind::kArgumentName;
}

// Splits the `>=` of `tensor<scalar>= 0.0` and `tensor<>= 0.0`.
void StatementReader::SplitGreaterEqual(size_t index) {
  const size_t open = IsTypeName(KindBefore(index, 1)) ? 2 : 1;
  if (KindBefore(index, open) != TokenKind::kLess || KindBefore(index, open + 1) != TokenKind::kTensor)
    return;
  Token& token = buffer_[start_ + index];
  Token assign = token;
  token.kind = TokenKind::kGreater;
  --token.end;
  assign.kind = TokenKind::kAssign;
  ++assign.begin;
  buffer_.insert(buffer_.begin() + static_cast<ptrdiff_t>(start_ + index) + 1, assign);
}

}  // namespace nnefc::ast::parse

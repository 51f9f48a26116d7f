// Descriptions of syntax errors that are slips, such as an unclosed bracket.

#include "compiler/syntax/parse.h"
#include "compiler/syntax/parse/mistakes/syntax_finder.h"
#include "compiler/syntax/parse/type_names.h"

namespace nnefc::ast::parse {
namespace {

// Recognizes slips where the parser stopped: an unclosed bracket, a missing comma, and Python expressions.
class SyntaxSlips : SyntaxFinder {
 public:
  using SyntaxFinder::SyntaxFinder;

  std::optional<SyntaxError> Describe() const {
    for (const auto find : {&SyntaxSlips::UnclosedList, &SyntaxSlips::TypeArgument, &SyntaxSlips::Unpacking,
                            &SyntaxSlips::Condition, &SyntaxSlips::SecondAssignment,
                            &SyntaxSlips::MissingComma, &SyntaxSlips::FormatString}) {
      if (auto error = (this->*find)()) return error;
    }
    return std::nullopt;
  }

 private:
  // Recognizes an unclosed bracket before a named argument: `conv(x, w, stride = [1,1, label = 'w')`
  std::optional<SyntaxError> UnclosedList() const {
    if (Found() != TokenKind::kArgumentName || Before() != TokenKind::kComma) return std::nullopt;
    size_t open = at_;
    for (int depth = 0; open > 0; --open) {
      const TokenKind kind = Kind(open - 1);
      if (IsOpening(kind) && --depth < 0) break;
      if (IsClosing(kind)) ++depth;
    }
    if (open < 2 || at_ < open + 2) return std::nullopt;
    --open;
    const bool is_call = Kind(open) == TokenKind::kLeftParen &&
                         (Kind(open - 1) == TokenKind::kIdentifier || IsKeyword(Kind(open - 1)) ||
                          Kind(open - 1) == TokenKind::kGreater);
    if (is_call) return std::nullopt;
    SyntaxError error =
        Error(fmt::format("`{}` is not closed before the argument `{}`", Text(open), Text(at_)));
    error.rule = &kUnclosedBracket;
    error.opening = tokens_[open];
    int surplus = 0;
    for (const Token& token : tokens_) surplus += IsOpening(token.kind) ? 1 : IsClosing(token.kind) ? -1 : 0;
    if (surplus <= 0) return error;  // the bracket that closes it is at another position
    const uint32_t end = tokens_[at_ - 2].end;
    error.edits.push_back(
        {{TokenKind::kUnexpected, end, end}, Kind(open) == TokenKind::kLeftBracket ? "]" : ")"});
    return error;
  }

  // Recognizes `external<'float32'>(..)`, `external<tensor>(..)`
  std::optional<SyntaxError> TypeArgument() const {
    if (rule_ != NnefParser::RuleTypeName || Before() != TokenKind::kTypeArgumentOpen) return std::nullopt;
    SyntaxError error = Error("");
    error.rule = &kUnknownTypeName;
    if (Found() == TokenKind::kStringLiteral) {
      const std::string_view word = Text(at_).substr(1, Text(at_).size() - 2);
      const IntendedType meant = IntendedTypeOf(word.substr(word.rfind('.') + 1), reader_.dialect());
      error.message = fmt::format("`{}` is not a type; {}", Text(at_),
                                  meant.name.empty() ? "`scalar`, `integer`, `logical` and `string` are"
                                                     : fmt::format("did you mean `{}`?", meant.name));
      if (meant.is_certain) error.edits.push_back({tokens_[at_], std::string(meant.name)});
      return error;
    }
    if (Found() != TokenKind::kTensor) return std::nullopt;
    error.message = fmt::format(
        "`tensor` is not a type that `{}` takes; write the type of its items, `scalar`, `integer`, `logical` "
        "or `string`",
        Text(at_ - 2));
    if (Kind(at_ + 1) == TokenKind::kLess && Kind(at_ + 3) == TokenKind::kGreater) {
      error.edits.push_back(
          {{TokenKind::kUnexpected, tokens_[at_].begin, tokens_[at_ + 3].end}, std::string(Text(at_ + 2))});
    }
    return error;
  }

  // Recognizes `[*a]`, `f(*a)`
  std::optional<SyntaxError> Unpacking() const {
    const bool is_item = Before() == TokenKind::kLeftBracket || Before() == TokenKind::kLeftParen ||
                         Before() == TokenKind::kComma;
    const bool is_star = Found() == TokenKind::kStar || Found() == TokenKind::kCaret;
    if (!is_star || !is_item || !IsName(at_ + 1)) return std::nullopt;
    return Error(
        fmt::format("`*` unpacks nothing; write the array itself, `{}`, or its items", Text(at_ + 1)));
  }

  // Recognizes `y = if c then a else b`
  std::optional<SyntaxError> Condition() const {
    if (Found() != TokenKind::kIf || at_ == 0 || EndsOperand(at_ - 1)) return std::nullopt;
    if (rule_ == NnefParser::RuleAssignment || rule_ == NnefParser::RuleLvalueExpr ||
        rule_ == NnefParser::RuleLoopIter || Kind(0) == TokenKind::kFragment ||
        Kind(0) == TokenKind::kGraph) {
      return std::nullopt;  // a keyword where a name must be
    }
    const auto ends = [&](TokenKind kind) {
      return kind == TokenKind::kComma || IsClosing(kind) || kind == TokenKind::kSemicolon ||
             kind == TokenKind::kStatementEnd;
    };
    const size_t otherwise = Until(at_ + 1, [](TokenKind kind) { return kind == TokenKind::kElse; });
    size_t then = at_ + 1;
    while (then < otherwise && !(Kind(then) == TokenKind::kIdentifier && Text(then) == "then")) ++then;
    const size_t end = Until(otherwise + 1, ends);
    const bool has_parts = Kind(otherwise) == TokenKind::kElse && then > at_ + 1 && then + 1 < otherwise &&
                           end > otherwise + 1 && end < tokens_.size();
    if (!has_parts) return Error("`if` comes between the values: `a if c else b`");
    const std::string right = fmt::format("{} if {} else {}", TextFrom(then + 1, otherwise),
                                          TextFrom(at_ + 1, then), TextFrom(otherwise + 1, end));
    return Replace(fmt::format("`if` comes between the values: `{}`", right), at_, end, right);
  }

  // Recognizes `a = b = relu(x)`
  std::optional<SyntaxError> SecondAssignment() const {
    if (rule_ != NnefParser::RuleAssignment || Found() != TokenKind::kAssign || at_ < 3) return std::nullopt;
    if (Kind(at_ - 2) != TokenKind::kAssign || !IsName(at_ - 1)) return std::nullopt;
    const std::string_view first = Text(at_ - 3), second = Text(at_ - 1);
    SyntaxError error = Error(fmt::format("a statement has one `=`; write `{1} = ..; {0} = {2}({1});`", first,
                                          second, reader_.dialect().copy));
    const size_t end = Until(at_ + 1, [](TokenKind kind) {
      return kind == TokenKind::kSemicolon || kind == TokenKind::kStatementEnd || kind == TokenKind::kAssign;
    });
    if (at_ != 3 || end >= tokens_.size() || Kind(end) == TokenKind::kAssign || end == at_ + 1) return error;
    const bool has_semicolon = Kind(end) == TokenKind::kSemicolon;
    error.edits.push_back({{TokenKind::kUnexpected, tokens_[0].begin, tokens_[2].begin}, ""});
    error.edits.push_back({{TokenKind::kUnexpected, tokens_[end].begin, tokens_[end].begin},
                           fmt::format("{}{} = {}({})", has_semicolon ? "; " : "\n    ", first,
                                       reader_.dialect().copy, second)});
    return error;
  }

  // Recognizes `fragment f( x: tensor channels: extent )`
  std::optional<SyntaxError> MissingComma() const {
    if (Kind(0) != TokenKind::kFragment || !IsName(at_) || Kind(at_ + 1) != TokenKind::kColon || at_ < 3)
      return std::nullopt;
    if (Depth() == 0) return std::nullopt;  // after the parameters
    const TokenKind before = Before();
    // `x y: tensor` lacks the type of `x`.
    if (before == TokenKind::kIdentifier && Kind(at_ - 2) != TokenKind::kColon) return std::nullopt;
    const bool ends_type = (before >= TokenKind::kTensor && before <= TokenKind::kString) ||
                           before == TokenKind::kGreater || before == TokenKind::kRightBracket ||
                           EndsOperand(at_ - 1);
    if (!ends_type) return std::nullopt;
    SyntaxError error = Error(fmt::format("expected `,` before `{}`", Text(at_)));
    error.after_previous = true;
    error.insertion = ",";
    return error;
  }

  // Recognizes `f'{scope}/filter'`
  std::optional<SyntaxError> FormatString() const {
    if (Found() != TokenKind::kStringLiteral || Before() != TokenKind::kIdentifier) return std::nullopt;
    const std::string_view prefix = Text(at_ - 1);
    if (tokens_[at_ - 1].end != tokens_[at_].begin || prefix.size() > 2 ||
        prefix.find_first_of("fF") == std::string_view::npos ||
        Text(at_).find('{') == std::string_view::npos) {
      return std::nullopt;
    }
    const std::string_view literal = Text(at_);
    const std::string_view quote = literal.substr(0, 1);
    const std::string_view body = literal.substr(1, literal.size() - 2);
    const size_t open = body.find('{'), close = body.find('}');
    const std::string_view name =
        close != std::string_view::npos && close > open ? body.substr(open + 1, close - open - 1) : "";
    if (!IsPlainName(name) || body.find('{', open + 1) != std::string_view::npos ||
        body.find('}', close + 1) != std::string_view::npos) {
      return Error("a string holds no expressions; strings are joined: `scope + '/filter'`");
    }
    std::string joined(name);
    if (open > 0) joined = fmt::format("{0}{1}{0} + {2}", quote, body.substr(0, open), joined);
    if (close + 1 < body.size()) joined += fmt::format(" + {0}{1}{0}", quote, body.substr(close + 1));
    return Replace(fmt::format("a string holds no expressions; strings are joined: `{}`", joined), at_ - 1,
                   at_ + 1, joined);
  }
};

}  // namespace

std::optional<SyntaxError> DescribeSlip(const antlr4::ParserRuleContext& rule, const StatementReader& reader,
                                        const Statement& statement, size_t found) {
  return SyntaxSlips(rule, reader, statement, found).Describe();
}

}  // namespace nnefc::ast::parse

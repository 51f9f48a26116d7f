// Descriptions of syntax errors, with fixes.

#include "compiler/syntax/parse/error_strategy.h"
#include "compiler/syntax/rules.h"
#include "fmt/core.h"

namespace nnefc::ast::parse {
namespace {

using grammar::NnefParser;

template <typename T>
const T& As(const antlr4::tree::ParseTree& context) {
  return static_cast<const T&>(context);
}

// Describes one syntax error by the tokens that the current rule expects.
class Describer {
 public:
  Describer(const antlr4::Parser& parser, const antlr4::ParserRuleContext& rule,
            const StatementReader& reader, const Statement& statement, size_t found)
      : expected_(parser.getATN().nextTokens(parser.getATN().states[parser.getState()])),
        rule_(rule),
        reader_(reader),
        statement_(statement),
        at_(found),
        found_(statement.tokens[std::min(found, statement.tokens.size() - 1)]) {}

  SyntaxError Describe() {
    if (const auto malformed = MalformedNumber()) return *malformed;
    if (found_.kind == TokenKind::kArgumentName && rule_.getRuleIndex() != NnefParser::RuleInvocation) {
      if (BeginsBuiltin()) {
        const std::string name = Quoted(statement_.tokens[at_ - 2]);
        return {&kCastArguments, fmt::format("{} takes one argument without a name", name), {}, {}, {}, {}};
      }
      return Unexpected(fmt::format("the name of an operation before the argument {}", Quoted(found_)));
    }
    if (Wants(TokenKind::kIdentifier) && IsKeyword(found_.kind) && WantsName()) return Keyword();
    switch (rule_.getRuleIndex()) {
      case NnefParser::RuleVersion:
      case NnefParser::RuleExtension:
        return Header();
      case NnefParser::RuleFragmentDeclaration:
      case NnefParser::RuleGraphDeclaration:
      case NnefParser::RuleGenericDeclaration:
      case NnefParser::RuleParameterItem:
      case NnefParser::RuleParameter:
      case NnefParser::RuleResult:
      case NnefParser::RuleIdentifierList:
        return Declaration();
      case NnefParser::RuleTypeName:
      case NnefParser::RuleTypeSpec:
      case NnefParser::RuleTensorTypeSpec:
      case NnefParser::RuleTupleTypeSpec:
        return Type();
      case NnefParser::RuleAssignment:
      case NnefParser::RuleQuantization:
      case NnefParser::RuleLvalueExpr:
      case NnefParser::RuleArrayLvalueExpr:
      case NnefParser::RuleTupleLvalueExpr:
      case NnefParser::RuleLiteralExpr:
      case NnefParser::RuleArrayLiteralExpr:
      case NnefParser::RuleTupleLiteralExpr:
        return Statements();
      default:
        return Expression();
    }
  }

 private:
  bool Wants(TokenKind kind) const { return expected_.contains(static_cast<size_t>(kind)); }

  // Returns true if the rule expects a name rather than an expression.
  bool WantsName() const {
    switch (rule_.getRuleIndex()) {
      case NnefParser::RuleExtension:
      case NnefParser::RuleFragmentDeclaration:
      case NnefParser::RuleGraphDeclaration:
      case NnefParser::RuleParameterItem:
      case NnefParser::RuleResult:
      case NnefParser::RuleIdentifierList:
      case NnefParser::RuleLvalueExpr:
      case NnefParser::RuleLoopIter:
        return true;
      default:
        return false;
    }
  }

  // Returns true after `shape_of(`.
  bool BeginsBuiltin() const {
    if (at_ < 2 || statement_.tokens[at_ - 1].kind != TokenKind::kLeftParen) return false;
    const TokenKind name = statement_.tokens[at_ - 2].kind;
    return name >= TokenKind::kScalar && name <= TokenKind::kRangeOf;
  }

  std::string Quoted(Token token) const {
    std::string_view text = reader_.Text(token);
    constexpr size_t kLongest = 40;
    if (text.size() > kLongest) return fmt::format("`{}..`", text.substr(0, kLongest));
    return fmt::format("`{}`", text);
  }
  std::string Found() const {
    const Token token = found_.kind == TokenKind::kStatementEnd ? statement_.next : found_;
    return token.kind == TokenKind::kEndOfText ? "the end of the text" : Quoted(token);
  }
  // Returns "`conv`", or `otherwise`, such as "the fragment", if the name could not be parsed.
  std::string NameOr(const antlr4::Token* token, std::string_view otherwise) const {
    return token != nullptr ? Quoted(Unwrap(token)) : std::string(otherwise);
  }
  bool Passed(TokenKind kind) const {
    for (size_t i = 0; i < at_; ++i) {
      if (statement_.tokens[i].kind == kind) return true;
    }
    return false;
  }

  SyntaxError Unexpected(std::string what) const {
    return {&kUnexpectedToken, fmt::format("expected {}, found {}", what, Found()), {}, {}, {}, {}};
  }
  SyntaxError Missing(std::string what, std::string_view hint = "") const {
    return {&kUnexpectedToken, fmt::format("expected {}, found {}{}", what, Found(), hint), true, {}, {}, {}};
  }
  // A keyword where a name must be.
  SyntaxError Keyword() const {
    return {
        &kKeywordAsName, fmt::format("{} is a keyword and cannot be a name", Quoted(found_)), {}, {}, {}, {}};
  }
  // Returns the error for a token where a name is expected.
  SyntaxError NoName(std::string what) const {
    SyntaxError error = Unexpected(std::move(what));
    if (found_.kind == TokenKind::kNumericLiteral) error.message += "; a name begins with a letter or `_`";
    return error;
  }
  // Recognizes names of other formats: `conv:0` and `conv/bias`.
  bool ContinuesName() const {
    if (at_ == 0) return false;
    const Token previous = statement_.tokens[at_ - 1];
    return previous.kind == TokenKind::kIdentifier && previous.end == found_.begin &&
           (found_.kind == TokenKind::kColon || found_.kind == TokenKind::kMinus ||
            found_.kind == TokenKind::kSlash);
  }
  // The statement reader ends an assignment without `;` before the next one, so the token found does not
  // begin another assignment.
  SyntaxError MissingSemicolon(std::string_view what) const {
    return Unexpected(fmt::format("`;` after {}", what));
  }
  SyntaxError Unclosed(std::string_view bracket, std::string what, const antlr4::Token* opening) const {
    SyntaxError error{&kUnclosedBracket,
                      fmt::format("expected `{}` to close {}, found {}", bracket, what, Found()),
                      true,
                      {},
                      opening != nullptr ? std::optional(Unwrap(opening)) : std::nullopt,
                      {}};
    if (found_.kind == TokenKind::kSemicolon || ClosesOuter()) {
      error.insertion = bracket;
      const llvm::ArrayRef<Token> inner =
          llvm::ArrayRef<Token>(statement_.tokens).take_front(at_).drop_while([&](const Token& token) {
            return error.opening.has_value() && token.begin < error.opening->begin;
          });
      if (HasBinaryOperator(inner)) error.applicability = Applicability::kUnsafe;
    } else if (IsClosing(found_.kind)) {
      error.edits.push_back({found_, std::string(bracket)});
    }
    return error;
  }

  static bool IsClosing(TokenKind kind) {
    return kind == TokenKind::kRightParen || kind == TokenKind::kRightBracket;
  }
  // Returns true if the token found closes the bracket around the open one: the `)` of `f([1,2)`, not the `]`
  // of `f(x]`.
  bool ClosesOuter() const {
    if (!IsClosing(found_.kind)) return false;
    const TokenKind wanted =
        found_.kind == TokenKind::kRightParen ? TokenKind::kLeftParen : TokenKind::kLeftBracket;
    int depth = 0;
    for (size_t i = at_; i > 0; --i) {
      const TokenKind kind = statement_.tokens[i - 1].kind;
      if (IsClosing(kind)) ++depth;
      const bool opens = kind == TokenKind::kLeftParen || kind == TokenKind::kLeftBracket;
      if (opens && --depth < 0 && kind == wanted) return true;
    }
    return false;
  }

  // Recognizes `1e` and `2x`: a number directly followed by a name.
  std::optional<SyntaxError> MalformedNumber() const {
    if (at_ == 0 || found_.kind != TokenKind::kIdentifier) return std::nullopt;
    const Token previous = statement_.tokens[at_ - 1];
    if (previous.kind != TokenKind::kNumericLiteral || previous.end != found_.begin) return std::nullopt;
    return SyntaxError{
        &kMalformedNumber,
        fmt::format("`{}{}` is neither a number nor a name", reader_.Text(previous), reader_.Text(found_)),
        {},
        {},
        {},
        {}};
  }

  SyntaxError Header() const {
    if (rule_.getRuleIndex() == NnefParser::RuleVersion) {
      if (As<NnefParser::VersionContext>(rule_).number == nullptr) {
        const bool wrong = found_.kind == TokenKind::kStringLiteral || found_.kind == TokenKind::kIdentifier;
        return wrong ? Unexpected("a number after `version`") : Missing("a number after `version`");
      }
      return MissingSemicolon("the version");
    }
    if (As<NnefParser::ExtensionContext>(rule_).names.empty()) return Missing("a name after `extension`");
    return Wants(TokenKind::kSemicolon) ? MissingSemicolon("the extension")
                                        : Unexpected("the name of an extension");
  }

  SyntaxError Declaration() const {
    switch (rule_.getRuleIndex()) {
      case NnefParser::RuleFragmentDeclaration:
        return Declared("fragment", As<NnefParser::FragmentDeclarationContext>(rule_).name);
      case NnefParser::RuleGraphDeclaration:
        return Declared("graph", As<NnefParser::GraphDeclarationContext>(rule_).name);
      case NnefParser::RuleGenericDeclaration:
        if (Wants(TokenKind::kQuestion)) return Missing("`?` in the generic declaration");
        return Unclosed(">", "the generic declaration",
                        As<NnefParser::GenericDeclarationContext>(rule_).open);
      case NnefParser::RuleParameter: {
        const auto& parameter = As<NnefParser::ParameterContext>(rule_);
        return Missing(fmt::format("`:` and a type after the parameter {}", Quoted(Unwrap(parameter.name))));
      }
      case NnefParser::RuleResult: {
        const auto& result = As<NnefParser::ResultContext>(rule_);
        if (result.name == nullptr) return NoName("the name of a result");
        return Missing(fmt::format("`:` and a type after the result {}", Quoted(Unwrap(result.name))));
      }
      case NnefParser::RuleParameterItem:
        return NoName("the name of a parameter");
      default:
        return NoName("a name");
    }
  }

  SyntaxError Declared(std::string_view what, const antlr4::Token* name) const {
    if (name == nullptr) return Missing(fmt::format("a name after `{}`", what));
    const std::string quoted = Quoted(Unwrap(name));
    const std::string list =
        fmt::format("the {} of {}", Passed(TokenKind::kArrow) ? "results" : "parameters", quoted);
    if (Wants(TokenKind::kLeftParen)) return Missing(fmt::format("`(` to open {}", list));
    if (found_.kind == TokenKind::kNumericLiteral) return NoName("a name");
    if (IsKeyword(found_.kind) && statement_.tokens[at_ - 1].kind == TokenKind::kLeftParen) return Keyword();
    if (Wants(TokenKind::kRightParen)) return Unclosed(")", list, nullptr);
    if (Wants(TokenKind::kArrow)) return Missing(fmt::format("`->` after the parameters of {}", quoted));
    return Unexpected(list);
  }

  SyntaxError Type() const {
    switch (rule_.getRuleIndex()) {
      case NnefParser::RuleTensorTypeSpec:
        return Unclosed(">", "the tensor type", As<NnefParser::TensorTypeSpecContext>(rule_).open);
      case NnefParser::RuleTupleTypeSpec:
        if (As<NnefParser::TupleTypeSpecContext>(rule_).items.size() == 1) {
          return Missing("`,` and a second type, since a tuple has at least two items");
        }
        return Unclosed(")", "the tuple type", rule_.start);
      default:
        // Only `]` can follow `T[`.
        if (Wants(TokenKind::kRightBracket)) return Missing("`]` of the array type");
        return Unexpected("a type");
    }
  }

  SyntaxError Statements() const {
    switch (rule_.getRuleIndex()) {
      case NnefParser::RuleAssignment:
        if (Wants(TokenKind::kSemicolon)) {
          // Without `;`, only another assignment ends an assignment.
          if (!reader_.dialect().semicolons) return Unexpected("the end of the assignment");
          return MissingSemicolon("the assignment");
        }
        return Missing(fmt::format("`=` after {}", at_ == 1 ? Quoted(statement_.tokens[0]) : "the left side"),
                       ContinuesName() ? "; names are of letters, digits and `_`" : "");
      case NnefParser::RuleQuantization:
        if (Wants(TokenKind::kSemicolon)) return MissingSemicolon("the quantization");
        if (Wants(TokenKind::kColon)) return Missing("`:` after the name of the tensor");
        return Unexpected("the name of a tensor in quotes");
      case NnefParser::RuleLvalueExpr:
        return NoName("a name, array or tuple on the left of `=`");
      case NnefParser::RuleArrayLvalueExpr:
        return Unclosed("]", "the array", rule_.start);
      case NnefParser::RuleTupleLvalueExpr:
        return Tuple(As<NnefParser::TupleLvalueExprContext>(rule_).items.size());
      case NnefParser::RuleLiteralExpr:
        return Unexpected("a literal as the default value");
      case NnefParser::RuleArrayLiteralExpr:
        return Unclosed("]", "the array", rule_.start);
      default:
        return Tuple(As<NnefParser::TupleLiteralExprContext>(rule_).items.size());
    }
  }

  SyntaxError Tuple(size_t items) const {
    if (items == 1) return Missing("`,` and a second item, since a tuple has at least two");
    return Unclosed(")", "the tuple", rule_.start);
  }

  // 3.2.3: the `if` belongs to the comprehension, not to an if-else.
  SyntaxError ElseOfComprehension() const {
    return {&kUnexpectedToken,
            "the `if` of a comprehension filters its items and has no `else`; put an if-else expression in "
            "parentheses",
            {},
            {},
            {},
            {}};
  }

  SyntaxError Expression() const {
    switch (rule_.getRuleIndex()) {
      case NnefParser::RuleRvalueExpr:
        return Missing("`else` after the condition of `if`");
      case NnefParser::RuleInvocation: {
        const auto& call = As<NnefParser::InvocationContext>(rule_);
        const std::string name =
            NameOr(As<NnefParser::UnaryExprContext>(*rule_.parent).name, "the operation");
        if (found_.kind == TokenKind::kAssign) {
          return {&kArgumentName,
                  fmt::format("expected the name of a parameter of {} before `=`", name),
                  {},
                  {},
                  {},
                  {}};
        }
        if (call.open != nullptr) return Unclosed(")", fmt::format("the arguments of {}", name), call.open);
        if (call.close != nullptr) return Missing(fmt::format("`(` to open the arguments of {}", name));
        return Missing(fmt::format("`>` after the type of {}", name));
      }
      case NnefParser::RuleBuiltinExpr: {
        const std::string name = Quoted(Unwrap(rule_.start));
        if (Wants(TokenKind::kLeftParen)) return Missing(fmt::format("`(` after {}", name));
        return Unclosed(")", fmt::format("the argument of {}", name), nullptr);
      }
      case NnefParser::RuleArrayRvalueExpr:
        if (found_.kind == TokenKind::kElse && Passed(TokenKind::kFor)) return ElseOfComprehension();
        return Unclosed("]", "the array", rule_.start);
      case NnefParser::RuleTupleRvalueExpr: {
        const size_t items = As<NnefParser::TupleRvalueExprContext>(rule_).items.size();
        return Unclosed(")", items > 1 ? "the tuple" : "the parentheses", rule_.start);
      }
      case NnefParser::RuleSubscriptExpr:
        if (!Wants(TokenKind::kRightBracket)) return Missing("an index in the subscript");
        return Unclosed("]", "the subscript", rule_.start);
      case NnefParser::RuleComprehensionExpr:
        if (found_.kind == TokenKind::kElse) return ElseOfComprehension();
        return Missing("`yield` in the comprehension");
      case NnefParser::RuleLoopIter:
        if (Wants(TokenKind::kIn)) {
          return Missing(fmt::format("`in` after the iterator {}", Quoted(statement_.tokens[at_ - 1])));
        }
        return Unexpected("the name of an iterator");
      default:
        if (at_ == 0) return Unexpected("an expression");
        return Unexpected(fmt::format("an expression after {}", Quoted(statement_.tokens[at_ - 1])));
    }
  }

  const antlr4::misc::IntervalSet& expected_;
  const antlr4::ParserRuleContext& rule_;
  const StatementReader& reader_;
  const Statement& statement_;
  const size_t at_;
  const Token found_;
};

}  // namespace

SyntaxError DescribeSyntaxError(const antlr4::Parser& parser, const antlr4::ParserRuleContext& rule,
                                const StatementReader& reader, const Statement& statement, size_t found) {
  return Describer(parser, rule, reader, statement, found).Describe();
}

}  // namespace nnefc::ast::parse

// Fast path for assignments of flat documents, the bulk of a network: `y = conv<scalar>(x, w, 0.0, stride =
// [1, 1]);`. Builds AST nodes directly from tokens, the same nodes in the same order as the grammar; a test
// compares them. Any other statement uses the grammar.

#include "compiler/syntax/parse/ast_builder.h"

namespace nnefc::ast::parse {
namespace {

// Maximum bracket depth of the fast path.
constexpr int kDeepest = 32;

// Decides by token kinds whether a statement is flat.
class FlatMatcher {
 public:
  // `integer` is the name of a cast.
  FlatMatcher(llvm::ArrayRef<Token> tokens, std::string_view text, std::string_view integer)
      : tokens_(tokens), text_(text), integer_(integer) {}

  bool Assignment() {
    do {
      if (!Take(TokenKind::kIdentifier)) return false;
    } while (Take(TokenKind::kComma));
    return Take(TokenKind::kAssign) && Operand(0) && at_ + 1 == tokens_.size() &&
           (Take(TokenKind::kSemicolon) || Take(TokenKind::kStatementEnd));
  }

 private:
  // Never past the end: no function continues after the last token, a kSemicolon or kStatementEnd.
  TokenKind kind() const { return tokens_[at_].kind; }
  bool Take(TokenKind wanted) {
    if (kind() != wanted) return false;
    ++at_;
    return true;
  }

  bool Operand(int depth) {
    switch (kind()) {
      case TokenKind::kNumericLiteral:
      case TokenKind::kStringLiteral:
      case TokenKind::kTrue:
      case TokenKind::kFalse:
        ++at_;
        return true;
      case TokenKind::kMinus:
        ++at_;
        return Take(TokenKind::kNumericLiteral);
      case TokenKind::kIdentifier:
        return NameOrCall(depth);
      case TokenKind::kLeftBracket:
        ++at_;
        return Take(TokenKind::kRightBracket) || Items(TokenKind::kRightBracket, depth);
      case TokenKind::kLeftParen:
        ++at_;
        return Items(TokenKind::kRightParen, depth);
      default:
        return false;
    }
  }

  bool NameOrCall(int depth) {
    const std::string_view name = tokens_[at_++].Text(text_);
    if (Take(TokenKind::kTypeArgumentOpen)) {
      if (kind() != TokenKind::kScalar && kind() != TokenKind::kLogical && kind() != TokenKind::kString)
        return false;
      ++at_;
      if (!Take(TokenKind::kGreater) || kind() != TokenKind::kLeftParen) return false;
    }
    if (!Take(TokenKind::kLeftParen)) return true;
    if (name == integer_) return false;
    return Items(TokenKind::kRightParen, depth, true);
  }

  // Matches one or more items up to `close`.
  bool Items(TokenKind close, int depth, bool have_names = false) {
    if (depth == kDeepest) return false;
    do {
      if (have_names && Take(TokenKind::kArgumentName) && !Take(TokenKind::kAssign)) return false;
      if (!Operand(depth + 1)) return false;
    } while (Take(TokenKind::kComma));
    return Take(close);
  }

  llvm::ArrayRef<Token> tokens_;
  std::string_view text_;
  std::string_view integer_;
  size_t at_ = 0;
};

}  // namespace

std::optional<ast::Assignment> AstBuilder::BuildFlat(llvm::ArrayRef<Token> tokens) {
  if (!FlatMatcher(tokens, text_, document_.dialect.integer).Assignment()) return std::nullopt;
  const Token* at = tokens.begin();
  ast::Assignment assignment;
  assignment.range = Cover(Range(tokens.front()), Range(tokens.back()));
  assignment.has_semicolon = tokens.back().kind == TokenKind::kSemicolon;
  Items left;
  do {
    left.Add(BuildFlatName(*at++));
  } while (at++->kind == TokenKind::kComma);
  assignment.left = Limit(left.ids.size() == 1 ? Built{left.ids[0]} : BareTuple(left));
  assignment.right = Limit(BuildFlatOperand(at));
  return assignment;
}

ExpressionBuilder::Built ExpressionBuilder::BuildFlatName(Token token) {
  const Name name = MakeName(token);
  return Make(name.range, IdentifierExpr{name.symbol}, 0);
}

ExpressionBuilder::Built ExpressionBuilder::BuildFlatOperand(const Token*& at) {
  const Token first = *at++;
  switch (first.kind) {
    case TokenKind::kMinus: {
      const Token digits = *at++;
      if (IsMinInteger(first, digits)) return BuildNumber(digits, true, Cover(Range(first), Range(digits)));
      return ApplyUnary(first, BuildLiteral(digits));
    }
    case TokenKind::kIdentifier:
      if (at->kind != TokenKind::kLeftParen && at->kind != TokenKind::kTypeArgumentOpen)
        return BuildFlatName(first);
      return BuildFlatCall(first, at);
    case TokenKind::kLeftBracket:
    case TokenKind::kLeftParen: {
      Items items;
      while (!IsClosing(at->kind)) {
        items.Add(BuildFlatOperand(at));
        if (at->kind == TokenKind::kComma) ++at;
      }
      const SourceRange range = Cover(Range(first), Range(*at++));
      if (first.kind == TokenKind::kLeftBracket)
        return Make(range, ArrayExpr{Keep(items.ids)}, items.height + 1);
      if (items.ids.size() == 1) return Make(range, ParenExpr{items.ids[0]}, items.height + 1);
      return Make(range, document_.Keep(TupleExpr{Keep(items.ids), true}), items.height + 1);
    }
    default:
      return BuildLiteral(first);
  }
}

ExpressionBuilder::Built ExpressionBuilder::BuildFlatCall(Token name, const Token*& at) {
  InvocationExpr invocation;
  invocation.callee = MakeName(name);
  if (at->kind == TokenKind::kTypeArgumentOpen) {
    BuildTypeArgument(at[1], invocation);
    at += 3;
  }
  ++at;
  llvm::SmallVector<Argument, 8> arguments;
  int64_t height = 0;
  while (at->kind != TokenKind::kRightParen) {
    Argument& argument = arguments.emplace_back();
    if (at->kind == TokenKind::kArgumentName) {
      argument.name = MakeName(*at);
      at += 2;
    }
    const Built value = BuildFlatOperand(at);
    argument.value = value.id;
    height = std::max(height, value.height);
    if (at->kind == TokenKind::kComma) ++at;
  }
  invocation.arguments = Keep(arguments);
  return Make(Cover(invocation.callee.range, Range(*at++)), document_.Keep(invocation), height + 1);
}

}  // namespace nnefc::ast::parse

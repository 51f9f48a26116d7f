#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/support/context.h"
#include "compiler/syntax/ast.h"
#include "compiler/syntax/parse/antlr_stream.h"
#include "grammar/NnefParser.h"
#include "llvm/ADT/SmallVector.h"

namespace nnefc::parse {

// Turns the labels of the contexts of one statement into AST nodes, and
// reports what the grammar leaves open: values of literals, soft keywords,
// empty lists, expressions that nest too deep.
//
// Recursion follows the brackets and the `if` conditions of the text, which
// the statement reader bounds; chains of operators are walked in loops.
class AstBuilder {
 public:
  AstBuilder(ast::Document& document, Context& context);

  ast::Extension BuildExtension(const grammar::NnefParser::ExtensionContext& context);
  // `broken` declarations keep what was read before the mistake.
  ast::Fragment BuildFragment(const grammar::NnefParser::FragmentDeclarationContext& context, bool broken);
  ast::Graph BuildGraph(const grammar::NnefParser::GraphDeclarationContext& context, bool broken);
  ast::Assignment BuildAssignment(const grammar::NnefParser::AssignmentContext& context);
  // The same from the tokens of a statement without mistakes; nothing, with
  // nothing made or told, unless it is flat.
  std::optional<ast::Assignment> BuildFlat(llvm::ArrayRef<Token> tokens);
  // The left side, where it was read, and an ErrorExpr over `range`.
  ast::Assignment BuildBrokenAssignment(const grammar::NnefParser::AssignmentContext* context,
                                        SourceRange range, bool is_name);
  ast::Quantization BuildQuantization(const grammar::NnefParser::QuantizationContext& context);
  ast::ExprId MakeError(SourceRange range) { return document_.exprs.Add({range, ast::ErrorExpr{}}); }

 private:
  using Parser = grammar::NnefParser;

  // An expression and how many operators and brackets nest in it.
  struct Built {
    ast::ExprId id;
    int64_t height = 0;
  };
  // Expressions that become the items of one, and the greatest height of them.
  struct Items {
    Items() = default;
    explicit Items(Built first) { Add(first); }
    void Add(Built built) {
      ids.push_back(built.id);
      height = std::max(height, built.height);
    }

    llvm::SmallVector<ast::ExprId, 4> ids;
    int64_t height = 0;
  };
  // An operator that waits for its right operand.
  struct PendingOperator {
    Token token;
    bool unary = false;
  };

  SourceRange Range(Token token) const { return {document_.file, token.begin, token.end}; }
  SourceRange Range(const antlr4::ParserRuleContext& context) const;
  SourceRange Range(ast::ExprId id) const { return document_.exprs[id].range; }
  std::string_view Text(Token token) const { return document_.Spelling(token.begin, token.Text(text_)); }
  ast::Name MakeName(Token token);
  // Of no name if there is no token.
  ast::Name MakeName(const antlr4::Token* token) {
    return token == nullptr ? ast::Name() : MakeName(Unwrap(token));
  }
  Built Make(SourceRange range, ast::ExprNode node, int64_t height);

  // literals.cpp
  Built BuildLiteral(Token token);
  Built BuildNumber(Token token, bool negative, SourceRange range);
  // True for `-9223372036854775808`, whose digits alone are out of range.
  bool IsLeastInteger(Token sign, Token literal) const;
  bool IsLeastInteger(const antlr4::Token* sign, const antlr4::Token* literal) const {
    return sign != nullptr && literal != nullptr && IsLeastInteger(Unwrap(sign), Unwrap(literal));
  }
  ast::ExprNode ScalarValue(Token token);
  ast::StringLiteral StringValue(Token token);
  std::string Unescape(Token token, std::string_view body);

  // build_expression.cpp
  Built BuildRvalue(const Parser::RvalueExprContext& context);
  Built BuildBinary(const Parser::BinaryExprContext& context) {
    return BuildBinary(*context.first, context.operators, context.rest);
  }
  Built BuildBinary(const Parser::UnaryExprContext& first,
                    const std::vector<Parser::BinaryOperatorContext*>& operators,
                    const std::vector<Parser::UnaryExprContext*>& rest);
  void PushOperand(const Parser::UnaryExprContext& unary, bool exponent);
  Built BuildOperand(const Parser::UnaryExprContext& context, bool least_integer);
  Built BuildSubscript(Built base, const Parser::SubscriptExprContext& context);
  Built BuildArray(const Parser::ArrayRvalueExprContext& context);
  Built BuildComprehension(const Parser::ArrayRvalueExprContext& context);
  Built BuildTuple(const Parser::TupleRvalueExprContext& context);
  Built BuildInvocation(const Parser::UnaryExprContext& context);
  Built BuildBuiltin(const Parser::BuiltinExprContext& context);
  Built MakeCast(ast::Builtin builtin, Token name, const Parser::InvocationContext& call);
  ast::Argument BuildArgument(const Parser::ArgumentContext& context, int64_t& height);
  bool IsCast(Token name, ast::Builtin& builtin) const;
  Built ApplyUnary(Token op, Built operand);
  void Reduce(const PendingOperator& op);
  void ReduceWhile(size_t base, int precedence);
  Built BuildLvalue(const Parser::LvalueExprContext& context);
  // A tuple without parentheses.
  Built BareTuple(const Items& items);
  Built BuildLeft(const Parser::AssignmentContext& context);
  Built BuildRight(const Parser::AssignmentContext& context);
  // The expression, or an error if it nests deeper than the limit.
  ast::ExprId Limit(Built built);

  // build_flat.cpp
  // Each takes the tokens of what it builds, from `at` on.
  Built BuildFlatOperand(const Token*& at);
  Built BuildFlatCall(Token name, const Token*& at);
  Built BuildFlatName(Token token);

  // build_declaration.cpp
  void BuildTypeArgument(Token type, ast::InvocationExpr& invocation);
  std::optional<ast::PrimitiveName> FindTypeName(Token name) const;
  // Nothing if it is none, which is reported.
  std::optional<ast::PrimitiveName> BuildTypeName(Token name);
  std::optional<ast::PrimitiveName> BuildTypeName(const Parser::TypeNameContext& context) {
    return BuildTypeName(Unwrap(context.name));
  }
  ast::TypeId BuildType(const Parser::TypeSpecContext& context);
  Built BuildDefault(const Parser::LiteralExprContext& context);
  llvm::ArrayRef<ast::Parameter> BuildParameters(const Parser::ParameterListContext* context);
  llvm::ArrayRef<ast::Result> BuildResults(const Parser::ResultListContext* context);
  llvm::ArrayRef<ast::Name> BuildNames(const Parser::IdentifierListContext* context);
  void ExtendDefault(ast::Parameter& parameter, const Parser::LiteralExprContext& context);
  // From one bracket to the other.
  SourceRange Between(const antlr4::Token* open, const antlr4::Token* close) const;
  void RequireItems(size_t count, SourceRange range, std::string_view owner, ast::Name name,
                    std::string_view what);

  template <typename T>
  llvm::ArrayRef<T> Keep(const llvm::SmallVectorImpl<T>& items) {
    return document_.Keep(llvm::ArrayRef<T>(items));
  }

  ast::Document& document_;
  Context& context_;
  std::string_view text_;
  // Shared by nested expressions, each of which uses what is above its base.
  std::vector<Built> operands_;
  std::vector<PendingOperator> operators_;
};

}  // namespace nnefc::parse

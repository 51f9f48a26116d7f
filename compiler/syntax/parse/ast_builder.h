#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/support/context.h"
#include "compiler/syntax/ast.h"
#include "compiler/syntax/parse/antlr_stream.h"
#include "grammar/NnefParser.h"
#include "llvm/ADT/SmallVector.h"

namespace nnefc::ast::parse {

// Builds literals and names of a document.
class LiteralBuilder {
 public:
  LiteralBuilder(ast::Document& document, Context& context);

  // Switches to the strings of tract's properties of a model, with control characters and any letters.
  void ReadProperties(bool in_properties) { in_properties_ = in_properties; }
  ExprId MakeError(SourceRange range) { return document_.exprs.Add({range, ErrorExpr{}}); }

 protected:
  using Parser = grammar::NnefParser;

  // An expression and its nesting depth in operators and brackets.
  struct Built {
    ExprId id;
    int64_t height = 0;
  };
  SourceRange Range(Token token) const { return {document_.file, token.begin, token.end}; }
  SourceRange Range(const antlr4::ParserRuleContext& context) const;
  SourceRange Range(ExprId id) const { return document_.exprs[id].range; }
  std::string_view Text(Token token) const { return document_.Spelling(token.begin, token.Text(text_)); }
  Name MakeName(Token token);
  // Returns an empty name for a null token.
  Name MakeName(const antlr4::Token* token) { return token == nullptr ? Name() : MakeName(Unwrap(token)); }
  Built Make(SourceRange range, ExprNode node, int64_t height);

  // literals.cpp
  Built BuildLiteral(Token token);
  Built BuildNumber(Token token, bool negative, SourceRange range);
  // Returns true for `-9223372036854775808`, whose digits alone are out of range.
  bool IsMinInteger(Token sign, Token literal) const;
  bool IsMinInteger(const antlr4::Token* sign, const antlr4::Token* literal) const {
    return sign != nullptr && literal != nullptr && IsMinInteger(Unwrap(sign), Unwrap(literal));
  }
  ExprNode ScalarValue(Token token);
  // The text of a string and whether it is valid; errors were reported.
  struct StringValue {
    Symbol text;
    bool is_valid = true;
  };
  StringValue ReadString(Token token);
  // Appends the characters that `body` denotes to `value`. Returns true if all of them are valid.
  bool Unescape(Token token, std::string_view body, std::string& value);

  template <typename T>
  llvm::ArrayRef<T> Keep(const llvm::SmallVectorImpl<T>& items) {
    return document_.Keep(llvm::ArrayRef<T>(items));
  }

  ast::Document& document_;
  Context& context_;
  std::string_view text_;

 private:
  bool in_properties_ = false;
};

// Builds expressions. Recursion follows the brackets and the `if` conditions of the text, whose depth the
// statement reader bounds; chains of operators are processed in loops.
class ExpressionBuilder : public LiteralBuilder {
 public:
  using LiteralBuilder::LiteralBuilder;

 protected:
  // Items of a list expression and their greatest height.
  struct Items {
    Items() = default;
    explicit Items(Built first) { Add(first); }
    void Add(Built built) {
      ids.push_back(built.id);
      height = std::max(height, built.height);
    }

    llvm::SmallVector<ExprId, 4> ids;
    int64_t height = 0;
  };
  // build_expression.cpp
  Built BuildRvalue(const Parser::RvalueExprContext& context);
  Built BuildBinary(const Parser::BinaryExprContext& context) {
    return BuildBinary(*context.first, context.operators, context.rest);
  }
  Built BuildBinary(const Parser::UnaryExprContext& first,
                    const std::vector<Parser::BinaryOperatorContext*>& operators,
                    const std::vector<Parser::UnaryExprContext*>& rest);
  Built BuildOperand(const Parser::UnaryExprContext& context, bool least_integer);
  Built BuildSubscript(Built base, const Parser::SubscriptExprContext& context);
  Built BuildArray(const Parser::ArrayRvalueExprContext& context);
  Built BuildComprehension(const Parser::ArrayRvalueExprContext& context);
  Built BuildTuple(const Parser::TupleRvalueExprContext& context);
  Built BuildInvocation(const Parser::UnaryExprContext& context);
  Built BuildBuiltin(const Parser::BuiltinExprContext& context);
  Built MakeCast(Builtin builtin, Token name, const Parser::InvocationContext& call);
  Argument BuildArgument(const Parser::ArgumentContext& context, int64_t& height);
  bool IsCast(Token name, Builtin& builtin) const;
  Built ApplyUnary(Token op, Built operand);
  Built BuildLvalue(const Parser::LvalueExprContext& context);
  // Builds a tuple without parentheses.
  Built BareTuple(const Items& items);
  Built BuildLeft(const Parser::AssignmentContext& context);
  Built BuildRight(const Parser::AssignmentContext& context);
  // Returns the expression, or reports an error and returns an ErrorExpr if it nests deeper than the limit.
  ExprId Limit(Built built);

  // build_flat.cpp: each function consumes the tokens of its node, starting at `at`.
  Built BuildFlatOperand(const Token*& at);
  Built BuildFlatCall(Token name, const Token*& at);
  Built BuildFlatName(Token token);

  // Types of generic invocations and casts.
  void BuildTypeArgument(Token type, InvocationExpr& invocation);
  std::optional<PrimitiveName> FindTypeName(Token name) const;
  // Reports an unknown type name and returns nothing.
  std::optional<PrimitiveName> BuildTypeName(Token name);
  std::optional<PrimitiveName> BuildTypeName(const Parser::TypeNameContext& context) {
    return BuildTypeName(Unwrap(context.name));
  }

 private:
  // An operator without its right operand yet.
  struct PendingOperator {
    Token token;
    bool unary = false;
  };

  void PushOperand(const Parser::UnaryExprContext& unary, bool exponent);
  void Reduce(const PendingOperator& op);
  void ReduceWhile(size_t base, int precedence);

  // Stacks shared by nested expressions; each expression uses the entries above its base.
  std::vector<Built> operands_;
  std::vector<PendingOperator> operators_;
};

// Builds AST nodes from the labels of one statement's contexts. Reports errors that the grammar accepts:
// values of literals, soft keywords, empty lists, too deep nesting.
class AstBuilder : public ExpressionBuilder {
 public:
  using ExpressionBuilder::ExpressionBuilder;

  Extension BuildExtension(const grammar::NnefParser::ExtensionContext& context);
  // `broken` declarations have only the parts before the error.
  Fragment BuildFragment(const grammar::NnefParser::FragmentDeclarationContext& context, bool broken);
  Graph BuildGraph(const grammar::NnefParser::GraphDeclarationContext& context, bool broken);
  Assignment BuildAssignment(const grammar::NnefParser::AssignmentContext& context);
  // Builds an assignment from the tokens of a statement without errors. Returns nothing, without nodes or
  // diagnostics, unless the statement is flat.
  std::optional<Assignment> BuildFlat(llvm::ArrayRef<Token> tokens);
  // Returns an assignment with the left side, where it was parsed, and an ErrorExpr over `range`.
  Assignment BuildBrokenAssignment(const grammar::NnefParser::AssignmentContext* context, SourceRange range,
                                   bool is_name);
  Quantization BuildQuantization(const grammar::NnefParser::QuantizationContext& context);

 private:
  // build_declaration.cpp
  TypeId BuildType(const Parser::TypeSpecContext& context);
  Built BuildDefault(const Parser::LiteralExprContext& context);
  llvm::ArrayRef<Parameter> BuildParameters(const Parser::ParameterListContext* context);
  llvm::ArrayRef<Result> BuildResults(const Parser::ResultListContext* context);
  llvm::ArrayRef<Name> BuildNames(const Parser::IdentifierListContext* context);
  void ExtendDefault(Parameter& parameter, const Parser::LiteralExprContext& context);
  // Returns the range from the opening to the closing bracket, both included.
  SourceRange Between(const antlr4::Token* open, const antlr4::Token* close) const;
  // Returns true for a document of tract's registries or its writer, whose graph may have no parameters.
  bool IsOfTract() const;
  void RequireItems(size_t count, SourceRange range, std::string_view owner, Name name,
                    std::string_view what);
};

}  // namespace nnefc::ast::parse

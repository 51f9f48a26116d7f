// The part of the parser that builds expressions.

#include <algorithm>

#include "compiler/syntax/parse/ast_builder.h"
#include "compiler/syntax/rules.h"

namespace nnefc::ast::parse {
namespace {

// Precedence of operators; larger numbers bind more tightly.
constexpr int kUnaryPrecedence = 6;
constexpr int kPowerPrecedence = 7;

int Precedence(TokenKind op) {
  switch (op) {
    case TokenKind::kIn:
      return 1;
    case TokenKind::kAnd:
    case TokenKind::kOr:
      return 2;
    case TokenKind::kPlus:
    case TokenKind::kMinus:
      return 4;
    case TokenKind::kStar:
    case TokenKind::kSlash:
      return 5;
    case TokenKind::kCaret:
      return kPowerPrecedence;
    default:  // comparisons
      return 3;
  }
}

BinaryOperator BinaryOperatorOf(TokenKind op) {
  switch (op) {
    case TokenKind::kPlus:
      return BinaryOperator::kAdd;
    case TokenKind::kMinus:
      return BinaryOperator::kSub;
    case TokenKind::kStar:
      return BinaryOperator::kMul;
    case TokenKind::kSlash:
      return BinaryOperator::kDiv;
    case TokenKind::kCaret:
      return BinaryOperator::kPow;
    case TokenKind::kLess:
      return BinaryOperator::kLt;
    case TokenKind::kLessEqual:
      return BinaryOperator::kLe;
    case TokenKind::kGreater:
      return BinaryOperator::kGt;
    case TokenKind::kGreaterEqual:
      return BinaryOperator::kGe;
    case TokenKind::kEqual:
      return BinaryOperator::kEq;
    case TokenKind::kNotEqual:
      return BinaryOperator::kNe;
    case TokenKind::kAnd:
      return BinaryOperator::kAnd;
    case TokenKind::kOr:
      return BinaryOperator::kOr;
    default:
      NNEFC_CHECK(op == TokenKind::kIn);
      return BinaryOperator::kIn;
  }
}

UnaryOperator UnaryOperatorOf(TokenKind op) {
  if (op == TokenKind::kPlus) return UnaryOperator::kPlus;
  return op == TokenKind::kMinus ? UnaryOperator::kMinus : UnaryOperator::kNot;
}

Builtin BuiltinOf(TokenKind name) {
  switch (name) {
    case TokenKind::kShapeOf:
      return Builtin::kShapeOf;
    case TokenKind::kLengthOf:
      return Builtin::kLengthOf;
    case TokenKind::kRangeOf:
      return Builtin::kRangeOf;
    case TokenKind::kScalar:
      return Builtin::kScalar;
    case TokenKind::kLogical:
      return Builtin::kLogical;
    default:
      NNEFC_CHECK(name == TokenKind::kString);
      return Builtin::kString;
  }
}

}  // namespace

LiteralBuilder::LiteralBuilder(Document& document, Context& context)
    : document_(document), context_(context), text_(context.sources.Text(document.file)) {}

SourceRange LiteralBuilder::Range(const antlr4::ParserRuleContext& context) const {
  return {document_.file, Unwrap(context.start).begin, Unwrap(context.stop).end};
}

Name LiteralBuilder::MakeName(Token name) {
  const std::string_view text = Text(name);
  if (text.size() < 2 || (text[1] != '\'' && text[1] != '"'))
    return {context_.symbols.Intern(text), Range(name)};
  document_.quoted_names.push_back(Range(name));
  const Symbol symbol = ReadString({TokenKind::kStringLiteral, name.begin + 1, name.end}).text;
  if (!context_.symbols.Text(symbol).empty()) return {symbol, Range(name)};
  context_.emitter.Emit(kUnexpectedToken, Range(name), "a name has at least one character");
  return {context_.symbols.Intern(text), Range(name)};
}

LiteralBuilder::Built LiteralBuilder::Make(SourceRange range, ExprNode node, int64_t height) {
  return {document_.exprs.Add({range, node}), height};
}

ExprId ExpressionBuilder::Limit(Built built) {
  if (built.height <= context_.limits.nesting) return built.id;
  const SourceRange range = Range(built.id);
  context_.emitter.Emit(kNestingLimit, range,
                        "the expression nests {} operators and brackets, more than the limit of {}; "
                        "`--max-nesting` raises it",
                        built.height, context_.limits.nesting);
  return MakeError(range);
}

// ---- operators ----

ExpressionBuilder::Built ExpressionBuilder::BuildRvalue(const Parser::RvalueExprContext& context) {
  const Built first = BuildBinary(*context.first, context.operators, context.rest);
  if (context.conditions.empty()) return first;
  const size_t base = operands_.size();
  operands_.push_back(first);
  for (const auto* otherwise : context.otherwise) {
    const Built built = BuildBinary(*otherwise);
    operands_.push_back(built);
  }
  // `x if c else y if d else z` is `x if c else (y if d else z)`.
  Built result = operands_.back();
  for (size_t i = context.conditions.size(); i-- > 0;) {
    const Built condition = BuildRvalue(*context.conditions[i]);
    const Built value = operands_[base + i];
    const int64_t height = std::max({condition.height, value.height, result.height}) + 1;
    result =
        Make(Cover(Range(value.id), Range(result.id)), SelectExpr{condition.id, value.id, result.id}, height);
  }
  operands_.resize(base);
  return result;
}

// Operator precedence over the flat list: an operator is reduced before one that does not bind more tightly.
ExpressionBuilder::Built ExpressionBuilder::BuildBinary(
    const Parser::UnaryExprContext& first, const std::vector<Parser::BinaryOperatorContext*>& operators,
    const std::vector<Parser::UnaryExprContext*>& rest) {
  if (operators.empty() && first.operators.empty()) return BuildOperand(first, false);
  const size_t operand_base = operands_.size();
  const size_t operator_base = operators_.size();
  PushOperand(first, false);
  for (size_t i = 0; i < operators.size(); ++i) {
    const Token op = Unwrap(operators[i]->op);
    ReduceWhile(operator_base, Precedence(op.kind));
    operators_.push_back({op, false});
    PushOperand(*rest[i], op.kind == TokenKind::kCaret);
  }
  ReduceWhile(operator_base, 0);
  const Built result = operands_.back();
  operands_.resize(operand_base);
  return result;
}

// Unary operators of an exponent belong to it (`x ^ -2.0`); others are reduced after a `^` that may follow.
void ExpressionBuilder::PushOperand(const Parser::UnaryExprContext& unary, bool exponent) {
  const bool least = !unary.operators.empty() && IsMinInteger(unary.operators.back()->op, unary.literal);
  const size_t signs = unary.operators.size() - (least ? 1 : 0);
  if (!exponent) {
    for (size_t i = 0; i < signs; ++i) operators_.push_back({Unwrap(unary.operators[i]->op), true});
  }
  Built operand = BuildOperand(unary, least);
  if (exponent) {
    for (size_t i = signs; i-- > 0;) operand = ApplyUnary(Unwrap(unary.operators[i]->op), operand);
  }
  operands_.push_back(operand);
}

// Applies the operators above `base` that bind at least as tightly.
void ExpressionBuilder::ReduceWhile(size_t base, int precedence) {
  while (operators_.size() > base) {
    const PendingOperator top = operators_.back();
    if ((top.unary ? kUnaryPrecedence : Precedence(top.token.kind)) < precedence) return;
    operators_.pop_back();
    Reduce(top);
  }
}

void ExpressionBuilder::Reduce(const PendingOperator& op) {
  const Built right = operands_.back();
  if (op.unary) {
    operands_.back() = ApplyUnary(op.token, right);
    return;
  }
  operands_.pop_back();
  const Built left = operands_.back();
  operands_.back() =
      Make(Cover(Range(left.id), Range(right.id)),
           document_.Keep(BinaryExpr{BinaryOperatorOf(op.token.kind), left.id, right.id, Range(op.token)}),
           std::max(left.height, right.height) + 1);
}

ExpressionBuilder::Built ExpressionBuilder::ApplyUnary(Token op, Built operand) {
  return Make(Cover(Range(op), Range(operand.id)), UnaryExpr{UnaryOperatorOf(op.kind), operand.id},
              operand.height + 1);
}

// ---- operands ----

// Builds an operand without its unary operators, but with the minus sign of the least integer.
ExpressionBuilder::Built ExpressionBuilder::BuildOperand(const Parser::UnaryExprContext& context,
                                                         bool least_integer) {
  Built built;
  if (context.call != nullptr) {
    built = BuildInvocation(context);
  } else if (context.name != nullptr) {
    const Name name = MakeName(context.name);
    built = Make(name.range, IdentifierExpr{name.symbol}, 0);
  } else if (context.literal != nullptr) {
    const Token literal = Unwrap(context.literal);
    built = least_integer ? BuildNumber(literal, true,
                                        Cover(Range(Unwrap(context.operators.back()->op)), Range(literal)))
                          : BuildLiteral(literal);
  } else if (context.array != nullptr) {
    built = BuildArray(*context.array);
  } else if (context.tuple != nullptr) {
    built = BuildTuple(*context.tuple);
  } else {
    built = BuildBuiltin(*context.builtin);
  }
  for (const auto* subscript : context.subscripts) built = BuildSubscript(built, *subscript);
  return built;
}

ExpressionBuilder::Built ExpressionBuilder::BuildSubscript(Built base,
                                                           const Parser::SubscriptExprContext& context) {
  SubscriptExpr subscript;
  subscript.base = base.id;
  subscript.is_range = context.range != nullptr;
  int64_t height = base.height;
  if (context.begin != nullptr) {
    const Built begin = BuildRvalue(*context.begin);
    subscript.begin = begin.id;
    height = std::max(height, begin.height);
  }
  if (context.end != nullptr) {
    const Built end = BuildRvalue(*context.end);
    subscript.end = end.id;
    height = std::max(height, end.height);
  }
  return Make(Cover(Range(base.id), Range(context)), subscript, height + 1);
}

ExpressionBuilder::Built ExpressionBuilder::BuildArray(const Parser::ArrayRvalueExprContext& context) {
  if (context.comprehension != nullptr || context.provisional != nullptr) return BuildComprehension(context);
  Items items;
  for (const auto* item : context.items) items.Add(BuildRvalue(*item));
  return Make(Range(context), ArrayExpr{Keep(items.ids)}, items.height + 1);
}

ExpressionBuilder::Built ExpressionBuilder::BuildComprehension(
    const Parser::ArrayRvalueExprContext& context) {
  const auto* ratified = context.comprehension;
  const Parser::LoopIterListContext& loop = ratified ? *ratified->iterators : *context.provisional->iterators;
  const Parser::RvalueExprContext* condition =
      ratified ? ratified->condition : context.provisional->condition;
  ComprehensionExpr comprehension;
  comprehension.loops_first = ratified != nullptr;
  // In the dialect with `for` first, the checker reports the whole form instead.
  if (ratified == nullptr && loop.items.size() > 1 && !document_.dialect.loops_first) {
    context_.emitter.Emit(
        kComprehensionForm, Range(*loop.items[1]),
        "a comprehension with `for` behind its expression has one iterator; `[for .. yield ..]` "
        "may have several");
  }
  llvm::SmallVector<Iterator, 2> iterators;
  int64_t height = 0;
  const auto keep = [&height](Built built) {
    height = std::max(height, built.height);
    return built.id;
  };
  for (const auto* item : loop.items)
    iterators.push_back({MakeName(item->name), keep(BuildBinary(*item->value))});
  comprehension.iterators = Keep(iterators);
  if (condition != nullptr) comprehension.condition = keep(BuildRvalue(*condition));
  comprehension.body = keep(BuildRvalue(ratified ? *ratified->value : *context.items[0]));
  return Make(Range(context), document_.Keep(comprehension), height + 1);
}

ExpressionBuilder::Built ExpressionBuilder::BuildTuple(const Parser::TupleRvalueExprContext& context) {
  if (context.items.size() == 1) {
    const Built inner = BuildRvalue(*context.items[0]);
    return Make(Range(context), ParenExpr{inner.id}, inner.height + 1);
  }
  Items items;
  for (const auto* item : context.items) items.Add(BuildRvalue(*item));
  return Make(Range(context), document_.Keep(TupleExpr{Keep(items.ids), true}), items.height + 1);
}

// ---- calls ----

// Returns true if the call is a cast: `integer(x)` in the ratified dialect, `extent(x)` in the provisional
// one. In the other dialect each may be an operation.
bool ExpressionBuilder::IsCast(Token name, Builtin& builtin) const {
  const std::string_view integer = document_.dialect.integer;
  builtin = integer == ast::Spelling(Builtin::kInteger) ? Builtin::kInteger : Builtin::kExtent;
  return Text(name) == integer;
}

ExpressionBuilder::Built ExpressionBuilder::MakeCast(Builtin builtin, Token name,
                                                     const Parser::InvocationContext& call) {
  const SourceRange range = Cover(Range(name), Range(call));
  if (call.typeArgument != nullptr || call.arguments.size() != 1 || call.arguments[0]->name != nullptr) {
    context_.emitter.Emit(kCastArguments, range, "the cast `{}` takes one argument without a name",
                          Text(name));
    return {MakeError(range), 0};
  }
  const Built argument = BuildRvalue(*call.arguments[0]->value);
  return Make(range, document_.Keep(BuiltinExpr{builtin, Range(name), argument.id}), argument.height + 1);
}

ExpressionBuilder::Built ExpressionBuilder::BuildInvocation(const Parser::UnaryExprContext& context) {
  const Token name = Unwrap(context.name);
  const Parser::InvocationContext& call = *context.call;
  Builtin builtin;
  if (IsCast(name, builtin)) return MakeCast(builtin, name, call);
  InvocationExpr invocation;
  invocation.callee = MakeName(context.name);
  if (call.typeArgument != nullptr) BuildTypeArgument(Unwrap(call.typeArgument->name), invocation);
  llvm::SmallVector<Argument, 8> arguments;
  int64_t height = 0;
  for (const auto* argument : call.arguments) arguments.push_back(BuildArgument(*argument, height));
  invocation.arguments = Keep(arguments);
  return Make(Cover(invocation.callee.range, Range(call)), document_.Keep(invocation), height + 1);
}

// A word that is not a type may be one that the operation does not accept; the checker reports it.
void ExpressionBuilder::BuildTypeArgument(Token type, InvocationExpr& invocation) {
  invocation.type_argument_range = Range(type);
  invocation.type_argument = FindTypeName(type);
  if (!invocation.type_argument) invocation.unknown_type = context_.symbols.Intern(Text(type));
}

Argument ExpressionBuilder::BuildArgument(const Parser::ArgumentContext& context, int64_t& height) {
  Argument argument;
  if (context.name != nullptr) argument.name = MakeName(context.name);
  const Built value = BuildRvalue(*context.value);
  argument.value = value.id;
  height = std::max(height, value.height);
  return argument;
}

ExpressionBuilder::Built ExpressionBuilder::BuildBuiltin(const Parser::BuiltinExprContext& context) {
  const Token name = Unwrap(context.name);
  const Built argument = BuildRvalue(*context.value);
  return Make(Range(context), document_.Keep(BuiltinExpr{BuiltinOf(name.kind), Range(name), argument.id}),
              argument.height + 1);
}

// ---- left values and statements ----

ExpressionBuilder::Built ExpressionBuilder::BuildLvalue(const Parser::LvalueExprContext& context) {
  if (context.name != nullptr) {
    const Name name = MakeName(context.name);
    return Make(name.range, IdentifierExpr{name.symbol}, 0);
  }
  const auto& items = context.array != nullptr ? context.array->items : context.tuple->items;
  Items kept;
  for (const auto* item : items) kept.Add(BuildLvalue(*item));
  if (context.array != nullptr) return Make(Range(context), ArrayExpr{Keep(kept.ids)}, kept.height + 1);
  return Make(Range(context), document_.Keep(TupleExpr{Keep(kept.ids), true}), kept.height + 1);
}

ExpressionBuilder::Built ExpressionBuilder::BareTuple(const Items& items) {
  return Make(Cover(Range(items.ids.front()), Range(items.ids.back())),
              document_.Keep(TupleExpr{Keep(items.ids), false}), items.height + 1);
}

ExpressionBuilder::Built ExpressionBuilder::BuildLeft(const Parser::AssignmentContext& context) {
  const Built first = BuildLvalue(*context.left);
  if (context.leftRest.empty()) return first;
  Items items(first);
  for (const auto* item : context.leftRest) items.Add(BuildLvalue(*item));
  return BareTuple(items);
}

// `a, b if c else d` is the tuple `(a, (b if c else d))`.
ExpressionBuilder::Built ExpressionBuilder::BuildRight(const Parser::AssignmentContext& context) {
  const Built first = BuildRvalue(*context.right);
  if (context.rightRest.empty()) return first;
  Items items(first);
  for (const auto* item : context.rightRest) items.Add(BuildRvalue(*item));
  return BareTuple(items);
}

Assignment AstBuilder::BuildAssignment(const Parser::AssignmentContext& context) {
  Assignment assignment;
  assignment.range = Range(context);
  assignment.has_semicolon = Unwrap(context.end).kind == TokenKind::kSemicolon;
  assignment.left = Limit(BuildLeft(context));
  assignment.right = Limit(BuildRight(context));
  return assignment;
}

Assignment AstBuilder::BuildBrokenAssignment(const Parser::AssignmentContext* context, SourceRange range,
                                             bool is_name) {
  Assignment assignment;
  assignment.range = range;
  // A lone name that lacks its `=` counts as a left side.
  const bool left_read = context != nullptr && (context->equals != nullptr || is_name);
  assignment.left = left_read ? Limit(BuildLeft(*context)) : MakeError(range);
  assignment.right = MakeError(range);
  return assignment;
}

Quantization AstBuilder::BuildQuantization(const Parser::QuantizationContext& context) {
  Quantization entry;
  const Token key = Unwrap(context.key);
  entry.key = {ReadString(key).text, Range(key)};
  entry.invocation = Limit(BuildRvalue(*context.value));
  const Expr& value = document_.exprs[entry.invocation];
  if (!ast::Is<InvocationExpr>(value.node) && !std::holds_alternative<ErrorExpr>(value.node)) {
    context_.emitter.Emit(kQuantizationForm, value.range, "expected a quantization operation such as `{}`",
                          "linear_quantize(min = 0.0, max = 1.0, bits = 8)");
    entry.invocation = MakeError(value.range);
  }
  return entry;
}

}  // namespace nnefc::ast::parse

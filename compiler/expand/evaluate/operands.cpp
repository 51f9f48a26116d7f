#include "compiler/expand/evaluate/operands.h"

#include <utility>

#include "compiler/expand/evaluate/calls.h"
#include "compiler/expand/rules.h"
#include "compiler/expand/values/arithmetic.h"
#include "compiler/expand/values/builtins.h"
#include "compiler/expand/values/sequences.h"
#include "compiler/semantics/operator_mapping.h"

namespace nnefc::expand::evaluate {
namespace {

// Returns the operand in error, or the expression: a divisor, an exponent, a repeat count, the argument of a
// cast.
ast::ExprId OperandOf(const Evaluation& state, ast::ExprId expr, const Fault& fault) {
  const ast::ExprNode& node = state.frames.back().chunk->document->ast().exprs[expr].node;
  const auto* binary = ast::Find<ast::BinaryExpr>(node);
  if (binary != nullptr && (fault.rule == &kDivisionByZero || fault.rule == &kNegativeExponent ||
                            fault.rule == &kNegativeRepeat)) {
    return binary->right;
  }
  const auto* builtin = ast::Find<ast::BuiltinExpr>(node);
  if (builtin != nullptr && (fault.rule == &kCastNotLiteral || fault.rule == &kCastOutOfRange)) {
    return builtin->argument;
  }
  return expr;
}

// Returns the index or bound of a subscript in error, or the subscript.
ast::ExprId BoundOf(const Evaluation& state, ast::ExprId expr, const Fault& fault) {
  const auto* subscript =
      std::get_if<ast::SubscriptExpr>(&state.frames.back().chunk->document->ast().exprs[expr].node);
  if (subscript == nullptr || fault.item < 0) return expr;
  const ast::ExprId bound = fault.item == 0 ? subscript->begin : subscript->end;
  return bound.valid() ? bound : expr;
}

// Calls the standard operation of an operator on tensors.
bool Operator(Evaluation& state, std::string_view name, size_t arguments, ast::ExprId expr) {
  semantics::Callee callee =
      state.frame().chunk->document->library() == nullptr
          ? state.frame().chunk->document->Find(state.context.symbols.Intern(name))
          : state.frame().chunk->document->library()->Find(state.context.symbols.Intern(name));
  NNEFC_CHECK(callee.valid());
  for (Value* operand = state.stack.data() + state.stack.size() - arguments;
       operand != state.stack.data() + state.stack.size(); ++operand) {
    *operand = operand->AsTensor();
  }
  return MakeOperation(state, {.callee = callee, .expr = expr}, state.fragments.Info(callee));
}

}  // namespace

bool Load(Evaluation& state, const Instruction& instruction) {
  Value& value = state.stack[state.frame().base + static_cast<size_t>(instruction.a)];
  if (state.builder.is_lenient() && value.kind() == ValueKind::kUnknownExtent)
    value = state.builder.symbols().ValueOf(value);
  if (value.kind() <= ValueKind::kUnknownExtent) return state.Push(value, {}, instruction.expr);
  Value copy = value;  // the stack may move
  state.stack.push_back(std::move(copy));
  return true;
}

bool Store(Evaluation& state, const Instruction& instruction) {
  Value value = state.Pop();
  Frame& current = state.frame();
  auto slot = static_cast<size_t>(instruction.a);
  Symbol identifier = current.chunk->slot_names[slot];
  const bool is_in_body = state.frames.size() == 1 || current.is_body;
  if (is_in_body && value.tensor()) {
    value = state.builder.NameInBody(value, identifier, state.SiteOf(instruction.expr));
    if (value.poison()) return false;
  } else if (value.kind() == ValueKind::kTensor && value.port().node.index >= current.node_bound) {
    // A tensor created by this statement, not another name for an older one.
    state.builder.names().Assign(value.port(), state.OriginFrame(), identifier);
  }
  state.stack[state.frame().base + slot] = std::move(value);
  return true;
}

bool MakeSequence(Evaluation& state, const Instruction& instruction) {
  auto count = static_cast<size_t>(instruction.a);
  Fault fault;
  if (!state.heap.Reserve(instruction.a, fault)) return state.Fail(fault, instruction.expr);
  std::vector<Value> items(std::make_move_iterator(state.stack.end() - static_cast<int64_t>(count)),
                           std::make_move_iterator(state.stack.end()));
  state.stack.resize(state.stack.size() - count);
  state.stack.push_back(instruction.code == OpCode::kMakeArray ? Value::Array(state.heap, std::move(items))
                                                               : Value::Tuple(state.heap, std::move(items)));
  return true;
}

bool ApplyUnary(Evaluation& state, const Instruction& instruction) {
  auto op = static_cast<ast::UnaryOperator>(instruction.detail);
  if (state.stack.back().tensor() || state.stack.back().folded_tensor()) {
    return Operator(state, semantics::OperationOf(op, state.frame().chunk->document->dialect()), 1,
                    instruction.expr);
  }
  Fault fault;
  Value operand = state.Pop();
  return state.Push(values::EvaluateUnary(op, operand, fault), fault, instruction.expr);
}

bool ApplyBinary(Evaluation& state, const Instruction& instruction) {
  auto op = static_cast<ast::BinaryOperator>(instruction.detail);
  const Value& left_operand = state.stack[state.stack.size() - 2];
  const Value& right_operand = state.stack.back();
  // In lenient mode, an array combined with a tensor becomes a tensor, too.
  const bool has_tensor =
      left_operand.kind() == ValueKind::kTensor || right_operand.kind() == ValueKind::kTensor;
  const bool has_sequence =
      (left_operand.sequence() || right_operand.sequence()) && !(state.builder.is_lenient() && has_tensor);
  const bool is_folded = left_operand.folded_tensor() || right_operand.folded_tensor();
  const bool is_on_tensors = !has_sequence && (left_operand.tensor() || right_operand.tensor());
  if (op != ast::BinaryOperator::kIn && (is_folded || is_on_tensors)) {
    return Operator(state, semantics::OperationOf(op), 2, instruction.expr);
  }
  Fault fault;
  Value right = state.Pop();
  Value left = state.Pop();
  if (state.builder.is_lenient()) {
    if (IsSymbolic(left) || IsSymbolic(right)) {
      if (std::optional<Value> extent = state.builder.symbols().ExtentOf(op, left, right, fault);
          extent || fault.rule != nullptr)
        return state.Push(std::move(extent), fault, OperandOf(state, instruction.expr, fault));
    }
    if (left.kind() == ValueKind::kUnknownExtent || right.kind() == ValueKind::kUnknownExtent)
      return state.Push(Value::UnknownExtent(), fault, instruction.expr);
    if (left.kind() == ValueKind::kScalar && right.kind() == ValueKind::kInteger)
      right = Value::Scalar(static_cast<double>(right.integer()));
    if (right.kind() == ValueKind::kScalar && left.kind() == ValueKind::kInteger)
      left = Value::Scalar(static_cast<double>(left.integer()));
  }
  std::optional<Value> value = values::EvaluateBinary(op, left, right, state.heap, fault);
  return state.Push(std::move(value), fault, OperandOf(state, instruction.expr, fault)) &&
         state.CheckSteps(instruction.expr);
}

bool Branch(Evaluation& state, const Instruction& instruction) {
  Value condition = state.Pop();
  if (condition.kind() != ValueKind::kLogical || condition.tensor_typed()) {
    return state.Fail(
        WrongValue(condition, fmt::format("the condition is {}; expected a logical known during compilation",
                                          KindText(condition))),
        instruction.expr);
  }
  if (!condition.logical()) state.frame().pc = instruction.a;
  return true;
}

bool PushSubscript(Evaluation& state, const Instruction& instruction) {
  Value index = state.Pop();
  Value base = state.Pop();
  Fault fault;
  if (base.kind() == ValueKind::kTuple && index.kind() == ValueKind::kInteger && index.integer() >= 0 &&
      index.integer() < base.length()) {
    return state.Push(base.item(index.integer()), fault, instruction.expr);
  }
  std::optional<Value> item = values::Subscript(base, index, state.heap, fault);
  return state.Push(std::move(item), fault, BoundOf(state, instruction.expr, fault));
}

bool PushRange(Evaluation& state, const Instruction& instruction) {
  Value end = (instruction.detail & kRangeEnd) != 0 ? state.Pop() : Value();
  Value begin = (instruction.detail & kRangeBegin) != 0 ? state.Pop() : Value();
  Value base = state.Pop();
  Fault fault;
  std::optional<Value> range =
      values::SubscriptRange(base, (instruction.detail & kRangeBegin) != 0 ? &begin : nullptr,
                             (instruction.detail & kRangeEnd) != 0 ? &end : nullptr, fault);
  return state.Push(std::move(range), fault, BoundOf(state, instruction.expr, fault));
}

// Replaces the unknown extents of a tensor by symbolic ones.
static Value WithSymbols(Evaluation& state, const Value& tensor, const Value& shape) {
  std::vector<Value> extents(shape.items().begin(), shape.items().end());
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis].kind() == ValueKind::kUnknownExtent && !IsSymbolic(extents[axis]))
      extents[axis] = state.builder.symbols().ExtentAlong(tensor.port(), static_cast<int64_t>(axis));
  }
  return Value::Array(state.heap, std::move(extents)).WithFoldedTensor(shape.folded_tensor());
}

bool PushBuiltin(Evaluation& state, const Instruction& instruction) {
  Value argument = state.Pop();
  Fault fault;
  const auto builtin = static_cast<ast::Builtin>(instruction.detail);
  std::optional<Value> value = values::EvaluateBuiltin(
      builtin, argument, state.frame().chunk->document->dialect(), state.builder.graph(), state.heap, fault);
  const bool is_shape = builtin == ast::Builtin::kShapeOf && value && value->kind() == ValueKind::kArray;
  if (is_shape && state.builder.settings().dialect.vendor_meanings && !state.builder.nodes().is_in_body() &&
      argument.kind() == ValueKind::kTensor)
    value = WithSymbols(state, argument, *value);
  return state.Push(std::move(value), fault, OperandOf(state, instruction.expr, fault)) &&
         state.CheckSteps(instruction.expr);
}

bool Unpack(Evaluation& state, const Instruction& instruction) {
  Value value = state.Pop();
  if (!value.sequence() || value.length() != instruction.a) {
    std::string description(KindText(value));
    if (value.sequence()) description += fmt::format(" of {} items", value.length());
    return state.Fail(Fault::Of(kUnpackLength, "the left side has {} items, but the right side is {}",
                                instruction.a, description),
                      instruction.expr);
  }
  for (int64_t i = value.length(); i-- > 0;) state.stack.push_back(value.item(i));
  return true;
}

}  // namespace nnefc::expand::evaluate

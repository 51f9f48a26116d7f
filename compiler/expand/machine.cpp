#include "compiler/expand/machine.h"

#include <utility>

#include "compiler/expand/arithmetic.h"
#include "compiler/expand/builtins.h"
#include "compiler/expand/compile.h"
#include "compiler/expand/quantizers.h"
#include "compiler/expand/rules.h"
#include "compiler/expand/sequences.h"
#include "compiler/semantics/operator_mapping.h"

namespace nnefc::expand {
namespace {

// Maximum number of statements of the graph's body in a compiled part.
constexpr size_t kStatementsPerPart = 1024;

}  // namespace

Machine::Machine(const semantics::CheckedDocument& document, ir::OpRegistry& registry,
                 const ExpandOptions& options, Context& context, GraphBuilder& builder)
    : document_(document),
      registry_(registry),
      options_(options),
      context_(context),
      builder_(builder),
      heap_(builder.heap()) {}

bool Machine::Run() {
  Quantizers quantizers = MakeQuantizers(document_, options_.quantize, context_.symbols, heap_);
  body_ =
      std::make_unique<GraphCompiler>(document_, std::move(quantizers), context_.symbols, Defaults(), heap_);
  body_->CompilePart(kStatementsPerPart);
  Execute(body_->chunk());
  return complete_ && !stopped_;
}

std::vector<Value> Machine::Evaluate(llvm::ArrayRef<ast::ExprId> expressions) {
  const std::unique_ptr<Chunk> chunk =
      CompileExpressions(document_, expressions, context_.symbols, Defaults(), heap_);
  Execute(*chunk);
  stack_.resize(expressions.size());
  return std::move(stack_);
}

void Machine::Execute(const Chunk& root) {
  frames_.push_back({.chunk = &root});
  stack_.resize(static_cast<size_t>(root.num_slots));
  const size_t symbols = body_ != nullptr ? document_.symbols().size() : 0;
  for (size_t i = 0; i < symbols; ++i) stack_[i] = Value::SymbolicExtent(static_cast<uint32_t>(i) + 1);
  while (!stopped_ && !frames_.empty()) {
    Frame& current = frame();
    const Instruction& instruction = current.chunk->code[static_cast<size_t>(current.pc++)];
    ++steps_;
    if (!Step(instruction)) {
      stopped_ |= builder_.reporter().stopped() || context_.emitter.exhausted();
      if (!stopped_) Abandon();
    }
  }
}

bool Machine::Step(const Instruction& instruction) {
  switch (instruction.code) {
    case OpCode::kStatement:
      BeginStatement(instruction.a);
      return CheckSteps(instruction.expr);
    case OpCode::kPushConstant:
      stack_.push_back(frame().chunk->constants[static_cast<size_t>(instruction.a)]);
      return true;
    case OpCode::kLoad:
      return Load(instruction);
    case OpCode::kStore:
      return Store(instruction);
    case OpCode::kStoreIterator:
      stack_[frame().base + static_cast<size_t>(instruction.a)] = Pop();
      return true;
    case OpCode::kMakeArray:
    case OpCode::kMakeTuple:
      return MakeSequence(instruction);
    case OpCode::kUnary:
      return Unary(instruction);
    case OpCode::kBinary:
      return Binary(instruction);
    case OpCode::kToTensor:
      stack_.back() = stack_.back().AsTensor();
      return true;
    case OpCode::kJump:
      frame().pc = instruction.a;
      return CheckSteps(instruction.expr);
    case OpCode::kBranch:
      return Branch(instruction);
    case OpCode::kSubscript:
      return PushSubscript(instruction);
    case OpCode::kRange:
      return PushRange(instruction);
    case OpCode::kBuiltin:
      return PushBuiltin(instruction);
    case OpCode::kUnpack:
      return Unpack(instruction);
    case OpCode::kLoopBegin:
      return BeginLoop(instruction);
    case OpCode::kLoopNext:
      return NextItem(instruction);
    case OpCode::kLoopYield:
      return Yield(instruction);
    case OpCode::kLoopEnd:
      return EndLoop(instruction);
    case OpCode::kCall:
      return DoCall(frame().chunk->calls[static_cast<size_t>(instruction.a)]);
    case OpCode::kAbandon:
      return false;
    case OpCode::kNextPart:
      NextPart();
      return true;
    case OpCode::kReturn:
      return Return();
  }
  return false;
}

void Machine::NextPart() {
  body_->CompilePart(kStatementsPerPart);
  Frame& current = frame();
  current.pc = 0;
  current.statement = -1;
  stack_.resize(static_cast<size_t>(current.chunk->num_slots));
  ++uncharged_steps_;
}

void Machine::BeginStatement(int32_t index) {
  Frame& current = frame();
  current.statement = index;
  current.node_bound = static_cast<int32_t>(builder_.graph().node_bound());
  if (frames_.size() > 1) return;
  // Statements written in the graph's body are not charged against the limit.
  const Statement& statement = current.chunk->statements[static_cast<size_t>(index)];
  uncharged_steps_ += statement.end - statement.begin;
}

// Poisons the targets of the statement and continues with the next one.
void Machine::Abandon() {
  if (frames_.empty()) return;
  complete_ = false;
  Frame& current = frame();
  const Chunk& chunk = *current.chunk;
  stack_.resize(current.base + static_cast<size_t>(chunk.num_slots));
  TruncateLoops(current.loop_base);
  const Statement& statement = chunk.statements[static_cast<size_t>(current.statement)];
  for (uint32_t i = 0; i < statement.num_targets; ++i) {
    stack_[current.base + static_cast<size_t>(chunk.targets[statement.first_target + i])] = Value();
  }
  current.pc = statement.end;
}

bool Machine::Fail(const Fault& fault, ast::ExprId expr) {
  builder_.Report(fault, SiteOf(expr));
  return false;
}

bool Machine::CheckSteps(ast::ExprId expr) {
  steps_ += std::exchange(heap_.work, 0);
  if (steps_ - uncharged_steps_ <= context_.limits.steps) return true;
  Fault fault =
      Fault::Of(kLimitSteps, "expansion takes more than {} steps (`--max-steps`)", context_.limits.steps);
  fault.fatal = true;
  return Fail(fault, expr);
}

bool Machine::Push(std::optional<Value> value, const Fault& fault, ast::ExprId expr) {
  if (!value) return Fail(fault, expr);
  if (value->kind() == ValueKind::kUnknownExtent && !builder_.is_lenient()) {
    return Fail(OpenExtent(), expr);
  }
  if (value->poison()) return false;
  stack_.push_back(std::move(*value));
  return true;
}

Value Machine::Pop() {
  Value value = std::move(stack_.back());
  stack_.pop_back();
  return value;
}

bool Machine::Load(const Instruction& instruction) {
  Value& value = stack_[frame().base + static_cast<size_t>(instruction.a)];
  if (builder_.is_lenient() && value.kind() == ValueKind::kUnknownExtent)
    value = builder_.symbols().ValueOf(value);
  if (value.kind() <= ValueKind::kUnknownExtent) return Push(value, {}, instruction.expr);
  Value copy = value;  // the stack may move
  stack_.push_back(std::move(copy));
  return true;
}

bool Machine::Store(const Instruction& instruction) {
  Value value = Pop();
  Frame& current = frame();
  auto slot = static_cast<size_t>(instruction.a);
  Symbol identifier = current.chunk->slot_names[slot];
  const bool is_in_body = frames_.size() == 1 || current.is_body;
  if (is_in_body && value.tensor()) {
    value = builder_.NameInBody(value, identifier, SiteOf(instruction.expr));
    if (value.poison()) return false;
  } else if (value.kind() == ValueKind::kTensor && value.port().node.index >= current.node_bound) {
    // A tensor created by this statement, not another name for an older one.
    builder_.names().Assign(value.port(), OriginFrame(), identifier);
  }
  stack_[frame().base + slot] = std::move(value);
  return true;
}

bool Machine::MakeSequence(const Instruction& instruction) {
  auto count = static_cast<size_t>(instruction.a);
  Fault fault;
  if (!heap_.Reserve(instruction.a, fault)) return Fail(fault, instruction.expr);
  std::vector<Value> items(std::make_move_iterator(stack_.end() - static_cast<int64_t>(count)),
                           std::make_move_iterator(stack_.end()));
  stack_.resize(stack_.size() - count);
  stack_.push_back(instruction.code == OpCode::kMakeArray ? Value::Array(heap_, std::move(items))
                                                          : Value::Tuple(heap_, std::move(items)));
  return true;
}

bool Machine::Unary(const Instruction& instruction) {
  auto op = static_cast<ast::UnaryOperator>(instruction.detail);
  if (stack_.back().tensor()) {
    return Operator(semantics::OperationOf(op, frame().chunk->document->dialect()), 1, instruction.expr);
  }
  Fault fault;
  Value operand = Pop();
  return Push(EvaluateUnary(op, operand, fault), fault, instruction.expr);
}

bool Machine::Binary(const Instruction& instruction) {
  auto op = static_cast<ast::BinaryOperator>(instruction.detail);
  const Value& left_operand = stack_[stack_.size() - 2];
  const Value& right_operand = stack_.back();
  // In lenient mode, an array combined with a tensor becomes a tensor, too.
  const bool has_tensor =
      left_operand.kind() == ValueKind::kTensor || right_operand.kind() == ValueKind::kTensor;
  const bool has_sequence =
      (left_operand.sequence() || right_operand.sequence()) && !(builder_.is_lenient() && has_tensor);
  if (op != ast::BinaryOperator::kIn && !has_sequence && (left_operand.tensor() || right_operand.tensor())) {
    return Operator(semantics::OperationOf(op), 2, instruction.expr);
  }
  Fault fault;
  Value right = Pop();
  Value left = Pop();
  if (builder_.is_lenient()) {
    if (left.kind() == ValueKind::kUnknownExtent || right.kind() == ValueKind::kUnknownExtent)
      return Push(Value::UnknownExtent(), fault, instruction.expr);
    if (left.kind() == ValueKind::kScalar && right.kind() == ValueKind::kInteger)
      right = Value::Scalar(static_cast<double>(right.integer()));
    if (right.kind() == ValueKind::kScalar && left.kind() == ValueKind::kInteger)
      left = Value::Scalar(static_cast<double>(left.integer()));
  }
  std::optional<Value> value = EvaluateBinary(op, left, right, heap_, fault);
  return Push(std::move(value), fault, OperandOf(instruction.expr, fault)) && CheckSteps(instruction.expr);
}

// Returns the operand in error, or the expression: a divisor, an exponent, a repeat count, the argument of a
// cast.
ast::ExprId Machine::OperandOf(ast::ExprId expr, const Fault& fault) const {
  const ast::ExprNode& node = frames_.back().chunk->document->ast().exprs[expr].node;
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

// Calls the standard operation of an operator on tensors.
bool Machine::Operator(std::string_view name, size_t arguments, ast::ExprId expr) {
  semantics::Callee callee = frame().chunk->document->library() == nullptr
                                 ? frame().chunk->document->Find(context_.symbols.Intern(name))
                                 : frame().chunk->document->library()->Find(context_.symbols.Intern(name));
  NNEFC_CHECK(callee.valid());
  for (Value* operand = stack_.data() + stack_.size() - arguments; operand != stack_.data() + stack_.size();
       ++operand) {
    *operand = operand->AsTensor();
  }
  return MakeOperation({.callee = callee, .expr = expr}, Info(callee));
}

bool Machine::Branch(const Instruction& instruction) {
  Value condition = Pop();
  if (condition.kind() != ValueKind::kLogical || condition.tensor_typed()) {
    return Fail(
        WrongValue(condition, fmt::format("the condition is {}; expected a logical known during compilation",
                                          condition.KindText())),
        instruction.expr);
  }
  if (!condition.logical()) frame().pc = instruction.a;
  return true;
}

// Returns the index or bound of a subscript in error, or the subscript.
ast::ExprId Machine::BoundOf(ast::ExprId expr, const Fault& fault) const {
  const auto* subscript =
      std::get_if<ast::SubscriptExpr>(&frames_.back().chunk->document->ast().exprs[expr].node);
  if (subscript == nullptr || fault.item < 0) return expr;
  const ast::ExprId bound = fault.item == 0 ? subscript->begin : subscript->end;
  return bound.valid() ? bound : expr;
}

bool Machine::PushSubscript(const Instruction& instruction) {
  Value index = Pop();
  Value base = Pop();
  Fault fault;
  if (base.kind() == ValueKind::kTuple && index.kind() == ValueKind::kInteger && index.integer() >= 0 &&
      index.integer() < base.length()) {
    return Push(base.item(index.integer()), fault, instruction.expr);
  }
  std::optional<Value> item = Subscript(base, index, heap_, fault);
  return Push(std::move(item), fault, BoundOf(instruction.expr, fault));
}

bool Machine::PushRange(const Instruction& instruction) {
  Value end = (instruction.detail & kRangeEnd) != 0 ? Pop() : Value();
  Value begin = (instruction.detail & kRangeBegin) != 0 ? Pop() : Value();
  Value base = Pop();
  Fault fault;
  std::optional<Value> range =
      SubscriptRange(base, (instruction.detail & kRangeBegin) != 0 ? &begin : nullptr,
                     (instruction.detail & kRangeEnd) != 0 ? &end : nullptr, fault);
  return Push(std::move(range), fault, BoundOf(instruction.expr, fault));
}

bool Machine::PushBuiltin(const Instruction& instruction) {
  Value argument = Pop();
  Fault fault;
  std::optional<Value> value =
      EvaluateBuiltin(static_cast<ast::Builtin>(instruction.detail), argument,
                      frame().chunk->document->dialect(), builder_.graph(), heap_, fault);
  return Push(std::move(value), fault, OperandOf(instruction.expr, fault)) && CheckSteps(instruction.expr);
}

bool Machine::Unpack(const Instruction& instruction) {
  Value value = Pop();
  if (!value.sequence() || value.length() != instruction.a) {
    std::string description(value.KindText());
    if (value.sequence()) description += fmt::format(" of {} items", value.length());
    return Fail(Fault::Of(kUnpackLength, "the left side has {} items, but the right side is {}",
                          instruction.a, description),
                instruction.expr);
  }
  for (int64_t i = value.length(); i-- > 0;) stack_.push_back(value.item(i));
  return true;
}

}  // namespace nnefc::expand

#include "compiler/expand/evaluate/machine.h"

#include <utility>

#include "compiler/expand/evaluate/calls.h"
#include "compiler/expand/evaluate/graph_ends.h"
#include "compiler/expand/evaluate/loops.h"
#include "compiler/expand/evaluate/operands.h"
#include "compiler/expand/evaluate/quantizers.h"
#include "compiler/expand/rules.h"

namespace nnefc::expand::evaluate {
namespace {

// Maximum number of statements of the graph's body in a compiled part.
constexpr size_t kStatementsPerPart = 1024;

}  // namespace

bool Machine::Run() {
  Quantizers quantizers =
      MakeQuantizers(state_.document, state_.options.quantize, state_.context.symbols, state_.heap);
  body_ = std::make_unique<GraphCompiler>(state_.document, std::move(quantizers), state_.context.symbols,
                                          state_.fragments.Defaults(), state_.heap);
  body_->CompilePart(kStatementsPerPart);
  Execute(body_->chunk());
  return state_.complete && !state_.stopped;
}

std::vector<Value> Machine::Evaluate(llvm::ArrayRef<ast::ExprId> expressions) {
  const std::unique_ptr<Chunk> chunk = CompileExpressions(
      state_.document, expressions, state_.context.symbols, state_.fragments.Defaults(), state_.heap);
  Execute(*chunk);
  state_.stack.resize(expressions.size());
  return std::move(state_.stack);
}

void Machine::Execute(const Chunk& root) {
  state_.frames.push_back({.chunk = &root});
  state_.stack.resize(static_cast<size_t>(root.num_slots));
  const size_t symbols = body_ != nullptr ? state_.document.symbols().size() : 0;
  for (size_t i = 0; i < symbols; ++i) state_.stack[i] = Value::UnknownExtent(static_cast<uint32_t>(i) + 1);
  while (!state_.stopped && !state_.frames.empty()) {
    Frame& current = state_.frame();
    const Instruction& instruction = current.chunk->code[static_cast<size_t>(current.pc++)];
    ++state_.steps;
    if (!Step(instruction)) {
      state_.stopped |= state_.builder.reporter().stopped() || state_.context.emitter.exhausted();
      if (!state_.stopped) Abandon();
    }
  }
}

bool Machine::Step(const Instruction& instruction) {
  switch (instruction.code) {
    case OpCode::kStatement:
      BeginStatement(instruction.a);
      return state_.CheckSteps(instruction.expr);
    case OpCode::kPushConstant:
      state_.stack.push_back(state_.frame().chunk->constants[static_cast<size_t>(instruction.a)]);
      return true;
    case OpCode::kLoad:
      return Load(state_, instruction);
    case OpCode::kStore:
      return Store(state_, instruction);
    case OpCode::kStoreIterator:
      state_.stack[state_.frame().base + static_cast<size_t>(instruction.a)] = state_.Pop();
      return true;
    case OpCode::kMakeArray:
    case OpCode::kMakeTuple:
      return MakeSequence(state_, instruction);
    case OpCode::kUnary:
      return ApplyUnary(state_, instruction);
    case OpCode::kBinary:
      return ApplyBinary(state_, instruction);
    case OpCode::kToTensor:
      state_.stack.back() = state_.stack.back().AsTensor();
      return true;
    case OpCode::kJump:
      state_.frame().pc = instruction.a;
      return state_.CheckSteps(instruction.expr);
    case OpCode::kBranch:
      return Branch(state_, instruction);
    case OpCode::kSubscript:
      return PushSubscript(state_, instruction);
    case OpCode::kRange:
      return PushRange(state_, instruction);
    case OpCode::kBuiltin:
      return PushBuiltin(state_, instruction);
    case OpCode::kUnpack:
      return Unpack(state_, instruction);
    case OpCode::kLoopBegin:
      return BeginLoop(state_, instruction);
    case OpCode::kLoopNext:
      return NextItem(state_, instruction);
    case OpCode::kLoopYield:
      return Yield(state_, instruction);
    case OpCode::kLoopEnd:
      return EndLoop(state_);
    case OpCode::kCall:
      return DoCall(state_, state_.frame().chunk->calls[static_cast<size_t>(instruction.a)]);
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
  Frame& current = state_.frame();
  current.pc = 0;
  current.statement = -1;
  state_.stack.resize(static_cast<size_t>(current.chunk->num_slots));
  ++state_.uncharged_steps;
}

void Machine::BeginStatement(int32_t index) {
  Frame& current = state_.frame();
  current.statement = index;
  current.node_bound = static_cast<int32_t>(state_.builder.graph().node_bound());
  if (state_.frames.size() > 1) return;
  // Statements written in the graph's body are not charged against the limit.
  const Statement& statement = current.chunk->statements[static_cast<size_t>(index)];
  state_.uncharged_steps += statement.end - statement.begin;
}

void Machine::Abandon() {
  if (state_.frames.empty()) return;
  state_.complete = false;
  Frame& current = state_.frame();
  const Chunk& chunk = *current.chunk;
  state_.stack.resize(current.base + static_cast<size_t>(chunk.num_slots));
  state_.TruncateLoops(current.loop_base);
  const Statement& statement = chunk.statements[static_cast<size_t>(current.statement)];
  for (uint32_t i = 0; i < statement.num_targets; ++i) {
    state_.stack[current.base + static_cast<size_t>(chunk.targets[statement.first_target + i])] = Value();
  }
  current.pc = statement.end;
}

bool Machine::Return() {
  if (state_.frames.size() == 1) {
    if (body_ != nullptr) AddGraphEnds(state_);
    state_.frames.pop_back();
    return true;
  }
  const auto finish = state_.frame().finish;
  return finish != nullptr ? finish(state_) : ReturnFromFragment(state_);
}

}  // namespace nnefc::expand::evaluate

#include "compiler/expand/evaluate/loops.h"

#include "compiler/expand/rules.h"

namespace nnefc::expand::evaluate {

bool BeginLoop(Evaluation& state, const Instruction& instruction) {
  auto count = static_cast<size_t>(instruction.a);
  Loop loop;
  loop.arrays.assign(std::make_move_iterator(state.stack.end() - static_cast<int64_t>(count)),
                     std::make_move_iterator(state.stack.end()));
  state.stack.resize(state.stack.size() - count);
  const auto* comprehension =
      ast::Find<ast::ComprehensionExpr>(state.frame().chunk->document->ast().exprs[instruction.expr].node);
  NNEFC_CHECK(comprehension != nullptr);
  for (size_t i = 0; i < count; ++i) {
    const Value& array = loop.arrays[i];
    const ast::ExprId iterable = comprehension->iterators[i].iterable;
    if (array.kind() != ValueKind::kArray) {
      return state.Fail(
          WrongValue(array, fmt::format("a comprehension iterates {}; expected an array", KindText(array))),
          iterable);
    }
    if (array.length() != loop.arrays[0].length()) {
      return state.Fail(Fault::Of(kUnequalLengths, "the iterated arrays have {} and {} items",
                                  loop.arrays[0].length(), array.length()),
                        iterable);
    }
  }
  loop.length = loop.arrays.empty() ? 0 : loop.arrays[0].length();
  state.loops.push_back(std::move(loop));
  return true;
}

bool NextItem(Evaluation& state, const Instruction& instruction) {
  Loop& loop = state.loops.back();
  if (loop.index == loop.length) {
    state.frame().pc = instruction.a;
    return true;
  }
  int64_t index = loop.index++;
  for (size_t i = loop.arrays.size(); i-- > 0;) {
    // Not Push: an unknown extent is reported where its identifier is used.
    state.stack.push_back(loop.arrays[i].item(index));
  }
  return state.CheckSteps(instruction.expr);
}

bool Yield(Evaluation& state, const Instruction& instruction) {
  Fault fault;
  if (!state.heap.Reserve(1, fault)) return state.Fail(fault, instruction.expr);
  state.heap.Charge(1);
  state.loops.back().results.push_back(state.Pop());
  return true;
}

bool EndLoop(Evaluation& state) {
  std::vector<Value> results = std::move(state.loops.back().results);
  state.heap.Charge(-static_cast<int64_t>(results.size()));
  state.loops.pop_back();
  state.stack.push_back(Value::Array(state.heap, std::move(results)));
  return true;
}

}  // namespace nnefc::expand::evaluate

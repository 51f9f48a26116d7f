#include "compiler/expand/machine.h"
#include "compiler/expand/rules.h"

namespace nnefc::expand {

// Begins a comprehension: pops the `instruction.a` iterated arrays, which must have equal lengths.
bool Machine::BeginLoop(const Instruction& instruction) {
  auto count = static_cast<size_t>(instruction.a);
  Loop loop;
  loop.arrays.assign(std::make_move_iterator(stack_.end() - static_cast<int64_t>(count)),
                     std::make_move_iterator(stack_.end()));
  stack_.resize(stack_.size() - count);
  const auto* comprehension =
      ast::Find<ast::ComprehensionExpr>(frame().chunk->document->ast().exprs[instruction.expr].node);
  NNEFC_CHECK(comprehension != nullptr);
  for (size_t i = 0; i < count; ++i) {
    const Value& array = loop.arrays[i];
    const ast::ExprId iterable = comprehension->iterators[i].iterable;
    if (array.kind() != ValueKind::kArray) {
      return Fail(
          WrongValue(array, fmt::format("a comprehension iterates {}; expected an array", array.KindText())),
          iterable);
    }
    if (array.length() != loop.arrays[0].length()) {
      return Fail(Fault::Of(kUnequalLengths, "the iterated arrays have {} and {} items",
                            loop.arrays[0].length(), array.length()),
                  iterable);
    }
  }
  loop.length = loop.arrays.empty() ? 0 : loop.arrays[0].length();
  loops_.push_back(std::move(loop));
  return true;
}

// Pushes the next item of each iterated array, or jumps to `instruction.a` after the last one.
bool Machine::NextItem(const Instruction& instruction) {
  Loop& loop = loops_.back();
  if (loop.index == loop.length) {
    frame().pc = instruction.a;
    return true;
  }
  int64_t index = loop.index++;
  for (size_t i = loop.arrays.size(); i-- > 0;) {
    // Not Push: an unknown extent is reported where its identifier is used.
    stack_.push_back(loop.arrays[i].item(index));
  }
  return CheckSteps(instruction.expr);
}

// Pops an item of the resulting array.
bool Machine::Yield(const Instruction& instruction) {
  Fault fault;
  if (!heap_.Reserve(1, fault)) return Fail(fault, instruction.expr);
  heap_.Charge(1);
  loops_.back().results.push_back(Pop());
  return true;
}

// Ends the innermost comprehension and pushes the resulting array.
bool Machine::EndLoop(const Instruction& instruction) {
  std::vector<Value> results = std::move(loops_.back().results);
  heap_.Charge(-static_cast<int64_t>(results.size()));
  loops_.pop_back();
  stack_.push_back(Value::Array(heap_, std::move(results)));
  return true;
}

// Discards the innermost comprehensions until `num_remaining` are left.
void Machine::TruncateLoops(size_t num_remaining) {
  while (loops_.size() > num_remaining) {
    heap_.Charge(-static_cast<int64_t>(loops_.back().results.size()));
    loops_.pop_back();
  }
}

}  // namespace nnefc::expand

#pragma once

#include "compiler/expand/evaluate/evaluation.h"

namespace nnefc::expand::evaluate {

// Instructions of comprehensions.
// Begins a comprehension: pops the `instruction.a` iterated arrays. Their lengths must be equal.
bool BeginLoop(Evaluation& state, const Instruction& instruction);
// Pushes the next item of each iterated array, or jumps to `instruction.a` after the last one.
bool NextItem(Evaluation& state, const Instruction& instruction);
// Pops an item of the resulting array.
bool Yield(Evaluation& state, const Instruction& instruction);
// Ends the innermost comprehension and pushes the resulting array.
bool EndLoop(Evaluation& state);

}  // namespace nnefc::expand::evaluate

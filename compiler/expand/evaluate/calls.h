#pragma once

#include "compiler/expand/evaluate/evaluation.h"

namespace nnefc::expand::evaluate {

// Calls a fragment whose arguments are on the stack: instantiates it, or makes its operation.
bool DoCall(Evaluation& state, const Call& call);
// Pushes a frame whose first slots are the arguments on the stack.
bool Instantiate(Evaluation& state, const Call& call, FragmentInfo& info);
// Makes the operation of a call whose arguments are on the stack, and pushes its result.
bool MakeOperation(Evaluation& state, const Call& call, FragmentInfo& info);
// Returns true if the limits permit one more frame.
bool MayEnter(Evaluation& state, const Call& call);
// Pushes a frame whose base is set.
bool Enter(Evaluation& state, Frame callee);
// Returns from a fragment and pushes its result, or a tuple of its results, on the caller's stack. Poison
// abandons the caller's statement.
bool ReturnFromFragment(Evaluation& state);

}  // namespace nnefc::expand::evaluate

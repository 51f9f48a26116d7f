#pragma once

#include "compiler/expand/evaluate/evaluation.h"

namespace nnefc::expand::evaluate {

// Instructions on operands: slots, arrays, operators, subscripts and built-in functions (OpCode).
bool Load(Evaluation& state, const Instruction& instruction);
bool Store(Evaluation& state, const Instruction& instruction);
bool MakeSequence(Evaluation& state, const Instruction& instruction);
bool ApplyUnary(Evaluation& state, const Instruction& instruction);
bool ApplyBinary(Evaluation& state, const Instruction& instruction);
bool Branch(Evaluation& state, const Instruction& instruction);
bool PushSubscript(Evaluation& state, const Instruction& instruction);
bool PushRange(Evaluation& state, const Instruction& instruction);
bool PushBuiltin(Evaluation& state, const Instruction& instruction);
bool Unpack(Evaluation& state, const Instruction& instruction);

}  // namespace nnefc::expand::evaluate

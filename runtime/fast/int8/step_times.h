#pragma once

#include "compiler/ir/plan_functions.h"

namespace nnefc::runtime::fast::int8 {

// Returns the times of f32 and 8-bit steps with the instruction set in use.
const ir::StepTimes* StepTimesOfProcessor();

}  // namespace nnefc::runtime::fast::int8

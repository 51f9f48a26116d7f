#pragma once

#include "compiler/expand/evaluate/evaluation.h"

namespace nnefc::expand::vendor {

// Begins a loop whose lists refer to names.
bool MakeLoop(evaluate::Evaluation& state, const evaluate::Call& call, const OpPlan& plan,
              llvm::ArrayRef<Value> arguments, const Site& site);

}  // namespace nnefc::expand::vendor

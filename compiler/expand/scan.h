#pragma once

#include "compiler/expand/evaluation.h"

namespace nnefc::expand {

// Begins a loop whose lists refer to names.
bool MakeLoop(Evaluation& state, const Call& call, const OpPlan& plan, llvm::ArrayRef<Value> arguments,
              const Site& site);

}  // namespace nnefc::expand

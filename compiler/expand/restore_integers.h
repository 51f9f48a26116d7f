#pragma once

#include "compiler/expand/graph_builder.h"

namespace nnefc::expand {

// Converts the result of an operation on numbers back to integers if all operands were integers.
Value RestoreIntegers(const OpPlan& plan, llvm::ArrayRef<Value> given, Value result, const Site& site,
                      GraphBuilder& builder);

}  // namespace nnefc::expand

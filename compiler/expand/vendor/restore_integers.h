#pragma once

#include "compiler/expand/build/graph_builder.h"

namespace nnefc::expand::vendor {

// Converts the result of an operation on numbers back to integers if all operands were integers.
Value RestoreIntegers(const OpPlan& plan, llvm::ArrayRef<Value> given, Value result, const Site& site,
                      build::GraphBuilder& builder);

}  // namespace nnefc::expand::vendor

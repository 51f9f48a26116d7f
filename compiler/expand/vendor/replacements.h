#pragma once

#include "compiler/expand/build/graph_builder.h"

namespace nnefc::expand::vendor {

// Returns the result of other operations that replace one whose arguments do not fit; nothing if they fit, or
// if there is no replacement.
std::optional<Value> ReplaceOperation(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
                                      build::GraphBuilder& builder);

}  // namespace nnefc::expand::vendor

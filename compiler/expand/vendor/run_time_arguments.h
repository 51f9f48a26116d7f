#pragma once

#include "compiler/expand/build/graph_builder.h"

namespace nnefc::expand::vendor {

// Arguments that a run determines: extents that symbols leave open, and data. The graph computes them from
// the shapes of its inputs.

// Returns an extent, or a list of extents, as a tensor of integers. Returns nothing if it has no unknown
// extent, in bodies, and if an unknown extent follows from no shape.
std::optional<Value> ExtentsAsTensor(const Value& extents, const Site& site, build::GraphBuilder& builder);
// Replaces extents that are arguments for tensors by tensors.
void ReplaceExtents(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments, const Site& site,
                    build::GraphBuilder& builder);
// Makes `reshape`, `tile` or `slice` with such arguments; nothing for other operations and arguments.
std::optional<Value> MakeWithRunTimeArguments(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments,
                                              const Site& site, build::GraphBuilder& builder);

}  // namespace nnefc::expand::vendor

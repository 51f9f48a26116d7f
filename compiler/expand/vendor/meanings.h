#pragma once

#include "compiler/expand/build/graph_builder.h"

namespace nnefc::expand::vendor {

// Conversion of standard operations whose semantics differ in tract, in documents of its registries
// (ast::Dialect::vendor_meanings).

// Rewrites the arguments of a plan's operation, in the order of its parameters. Windows: max pooling ignores
// a constant border, and filters of transposed convolutions have the output channels first. Axes: `unsqueeze`
// and `squeeze` add or remove them sequentially, so an axis may be listed twice. `pad`: 'replicated' is
// 'replicate'. Returns false after a reported error.
[[nodiscard]] bool ReadVendorArguments(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments,
                                       const Site& site, build::GraphBuilder& builder);

// Rewrites the result of a plan's operation: the indices of `max_pool_with_index` are positions in the plane
// of a channel. Returns poison after a reported error.
Value ReadVendorResult(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Value& result,
                       const Site& site, build::GraphBuilder& builder);

}  // namespace nnefc::expand::vendor

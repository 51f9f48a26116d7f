#pragma once

#include "compiler/expand/instantiate.h"

namespace nnefc::expand {

// Where tract means something else by the words of a standard operation, in documents of its registries
// (GraphBuilder::has_vendor_meanings): arguments and results become those of the operation that says the
// same.

// Rewrites the arguments of a plan's operation, in the order of its parameters. Windows: largest elements
// ignore a constant border, and a filter that spreads has its outputs first. Axes: `unsqueeze` and `squeeze`
// add or remove one after another, so that an axis may be listed twice. `pad`: 'replicated' is 'replicate'.
// False after a mistake, which was emitted.
bool ReadVendorArguments(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments, const Site& site,
                         GraphBuilder& builder);

// Rewrites the result of a plan's operation: the indices of `max_pool_with_index` are positions in the plane
// of a channel. Poison after a mistake, which was emitted.
Value ReadVendorResult(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Value& result,
                       const Site& site, GraphBuilder& builder);

}  // namespace nnefc::expand

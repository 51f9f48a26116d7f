#pragma once

#include "compiler/expand/build/graph_builder.h"

namespace nnefc::expand::vendor {

// Returns the integers that the name of a data type denotes; i64 for types of 64 bits, extents and types of
// other values.
ElementType IntegersOf(std::string_view data_type);
// Replaces `tract_core_of_width`: records the width of the tensor.
std::optional<Value> ReplaceOfWidth(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
                                    build::GraphBuilder& builder);
// Replaces `tract_core_to_width` where the integers fit. Casts of floats saturate.
std::optional<Value> ReplaceToWidth(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
                                    build::GraphBuilder& builder);
// The same for `tract_core_to_width_of`.
std::optional<Value> ReplaceToWidthOf(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
                                      build::GraphBuilder& builder);
// Records that the integers of a result have the width of its operands; reduces results that may exceed it.
// `given` are the arguments as written.
Value KeepWidth(const OpPlan& plan, llvm::ArrayRef<Value> given, const Value& result, const Site& site,
                build::GraphBuilder& builder);

}  // namespace nnefc::expand::vendor

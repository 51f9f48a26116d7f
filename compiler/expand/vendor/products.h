#pragma once

#include "compiler/expand/build/graph_builder.h"

namespace nnefc::expand::vendor {

// Replacements of operations on products that a text or a list describes.

// `tract_core_aligned`: transposes an operand of an Einstein sum to the labels of another one.
std::optional<Value> ReplaceAligned(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
                                    build::GraphBuilder& builder);
// `tract_core_products`: the Einstein sum of the first two operands.
std::optional<Value> ReplaceProducts(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
                                     build::GraphBuilder& builder);
// `tract_core_matmul`: the Einstein sum for the listed axes.
std::optional<Value> ReplaceMatmul(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
                                   build::GraphBuilder& builder);

}  // namespace nnefc::expand::vendor

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "compiler/ir/algorithms/fold.h"
#include "compiler/ir/algorithms/lone_node.h"
#include "compiler/ir/graph.h"
#include "compiler/support/tensor/tensor_value.h"
#include "runtime/kernels/fault.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime::engine {

// Computes the outputs of one node with its reference kernel. `known` holds the types and static shapes of
// the outputs.
kernels::FaultOr<std::vector<TensorValue>> EvaluateNode(const ir::Node& node,
                                                        llvm::ArrayRef<ir::Output> known,
                                                        llvm::ArrayRef<TensorValue> inputs,
                                                        const kernels::KernelRegistry& kernels);

// Returns a lazy value for the output of a constant f32 node if it is large and its evaluation cannot fail;
// nothing for other nodes. Its elements are computed on first read with `kernels`, which must outlive the
// value, as must the registry.
std::optional<TensorValue> EvaluateLater(const ir::Node& node, const ir::OpRegistry& registry,
                                         llvm::ArrayRef<TensorValue> inputs,
                                         const kernels::KernelRegistry& kernels);

// Infers a node whose inputs have been set to values of a run.
kernels::FaultOr<Success> InferOnValues(ir::LoneNode& lone);

// Infers the output shapes from the input values, then evaluates the node like `EvaluateNode`. Fails if the
// outputs exceed `limit` bytes in total.
kernels::FaultOr<std::vector<TensorValue>> EvaluateDynamicNode(const ir::Node& node,
                                                               llvm::ArrayRef<TensorValue> inputs,
                                                               const kernels::KernelRegistry& kernels,
                                                               size_t limit);

// Returns an evaluator of constant nodes that uses the reference kernels and those that `add_kernels`
// registers, if it is not null.
ir::Evaluator ReferenceEvaluator(std::function<void(kernels::KernelRegistry&)> add_kernels = nullptr);

}  // namespace nnefc::runtime::engine

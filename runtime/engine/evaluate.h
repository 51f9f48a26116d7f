#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "compiler/ir/fold.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/lone_node.h"
#include "compiler/support/tensor/tensor_value.h"
#include "runtime/kernels/fault.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime {

// Computes the outputs of one node from values with its reference kernel.
// `known` says their types and shapes, which must be known.
FaultOr<std::vector<TensorValue>> EvaluateNode(const ir::Node& node, llvm::ArrayRef<ir::Output> known,
                                               llvm::ArrayRef<TensorValue> inputs,
                                               const KernelRegistry& kernels);

// The only output of a node of constants that is large, of f32 and such that nothing can fail: it is computed
// when somebody reads it, by `kernels`, which outlive it like the registry. Nothing of another node.
std::optional<TensorValue> EvaluateLater(const ir::Node& node, const ir::OpRegistry& registry,
                                         llvm::ArrayRef<TensorValue> inputs, const KernelRegistry& kernels);

// Infers a node whose inputs were set to values of a run.
FaultOr<Success> InferOnValues(ir::LoneNode& lone);

// EvaluateNode where shapes follow from the values: infers them first. Outputs of
// more than `limit` bytes in all are a mistake.
FaultOr<std::vector<TensorValue>> EvaluateDynamicNode(const ir::Node& node,
                                                      llvm::ArrayRef<TensorValue> inputs,
                                                      const KernelRegistry& kernels, size_t limit);

// Evaluates nodes of constants by the reference kernels, and by those that `add_kernels`,
// if it is not null, adds to them.
ir::Evaluator ReferenceEvaluator(std::function<void(KernelRegistry&)> add_kernels = nullptr);

}  // namespace nnefc::runtime

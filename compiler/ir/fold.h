#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/tensor/tensor_value.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::ir {

// Computes the outputs of a node, of which `known` says types and shapes, from values
// of its inputs; nothing where it cannot.
using Evaluator = std::function<std::optional<std::vector<TensorValue>>(
    const Node& node, llvm::ArrayRef<Output> known, llvm::ArrayRef<TensorValue> inputs)>;

// True if the outputs of a node follow from its inputs alone: it is no source or
// sink, and has no state and no bodies.
bool IsFoldable(const Node& node);

// How many bytes what is computed from constants may take, so that a small file does
// not become a large graph: `bytes`, or `times_inputs` of those it is computed from; or
// so many of their elements, which types of more bits take more bytes for.
struct FoldBound {
  size_t bytes = 0;
  size_t times_inputs = 1;
  bool counts_elements = false;
};

// The values of all inputs of a node, if they are known and its outputs within the bound.
std::optional<std::vector<TensorValue>> KnownInputs(const Graph& graph, const Node& node, FoldBound bound);

}  // namespace nnefc::ir

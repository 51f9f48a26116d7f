#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/tensor/tensor_value.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::ir {

// Computes the outputs of a node from the values of its inputs. `known` has the types and shapes of the
// outputs. Returns nothing if it cannot compute them.
using Evaluator = std::function<std::optional<std::vector<TensorValue>>(
    const Node& node, llvm::ArrayRef<Output> known, llvm::ArrayRef<TensorValue> inputs)>;

// True if the outputs of a node depend on its inputs alone: it is not a source or sink, and has no state, no
// random numbers and no bodies.
bool IsFoldable(const Node& node);

// The maximum size of a folded result, so that a small file cannot become a large graph. A result may have
// `bytes` bytes, or `times_inputs` times the size of the inputs. With `counts_elements` the latter sizes are
// element counts, regardless of the width of types.
struct FoldBound {
  size_t bytes = 0;
  size_t times_inputs = 1;
  bool counts_elements = false;
};

// Returns the values of all inputs of a node if they are known and its outputs are within the bound.
std::optional<std::vector<TensorValue>> KnownInputs(const Graph& graph, const Node& node, FoldBound bound);

}  // namespace nnefc::ir

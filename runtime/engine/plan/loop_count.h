#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/tensor/tensor_value.h"
#include "runtime/engine/plan/prepare_graph.h"
#include "runtime/kernels/fault.h"

namespace nnefc::runtime::engine::plan {

inline bool IsLoop(const ir::Node& node) {
  return node.Is(ir::OpRole::kLoop);
}

// Returns the number of iterations of a TensorIterator-1 or Loop-5 with these input shapes, nothing if it is
// unknown, or a fault if the ports disagree. All sliced inputs must yield the same count. Without sliced
// inputs the outputs that are concatenated over a given range determine it. A Loop ends early when its
// condition fails; `trip_count` bounds it unless it is negative or unknown.
kernels::FaultOr<std::optional<int64_t>> CountLoop(const ir::Node& node, llvm::ArrayRef<Shape> inputs,
                                                   std::optional<int64_t> trip_count);

// The shape of an input of a node with bodies, and its value if it is constant.
struct InputFacts {
  Shape shape;
  TensorValue constant = {};  // valid if constant
};
// Returns the inputs of a body's first iteration: shapes of slices, and constants for inputs that are
// invariant. CountLoop must have accepted the inputs.
PlannedInputs FirstInputsOf(const ir::Body& body, llvm::ArrayRef<InputFacts> inputs);

}  // namespace nnefc::runtime::engine::plan

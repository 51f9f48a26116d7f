#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/tensor/tensor_value.h"
#include "runtime/engine/prepare_graph.h"
#include "runtime/kernels/fault.h"

namespace nnefc::runtime {

inline bool IsLoop(const ir::Node& node) {
  return node.Is(ir::OpRole::kLoop);
}

// The number of iterations of a TensorIterator or Loop whose inputs have these
// shapes (OpenVINO's TensorIterator-1 and Loop-5), or what is wrong with them: the slices of all inputs
// agree, or else the outputs that are concatenated over a given span tell. A
// Loop goes on while its condition holds, as long as there are slices;
// `trip_count` bounds it unless it is negative or unknown. Nothing means that
// no number is known.
FaultOr<std::optional<int64_t>> CountLoop(const ir::Node& node, llvm::ArrayRef<Shape> inputs,
                                          std::optional<int64_t> trip_count);

// What is known of an input of a node with bodies.
struct InputFacts {
  Shape shape;
  TensorValue constant = {};  // valid if it is one
};
// What the body of a node is given at first: shapes of slices, constants where
// an input is the same in all iterations. For inputs that CountLoop accepts.
PlannedInputs FirstInputsOf(const ir::Body& body, llvm::ArrayRef<InputFacts> inputs);

}  // namespace nnefc::runtime

#pragma once

#include <functional>
#include <vector>

#include "compiler/ir/algorithms/fold.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/node_order.h"

namespace nnefc::ir {

// The 8-bit quantization of a constant filter.
struct FilterQuantization {
  // Scales per output channel: all its elements are multiples of the scale by -128 to 127. Empty if a channel
  // has no such scale.
  std::vector<float> scales = {};
  // The maximum over outputs of the sum of absolute quantized values, plus a bound on rounding errors.
  float max_magnitude = 0;
};

// The functions and data of a plan that transformations of the target phase use, all optional.
struct PlanFunctions {
  // Computes constants. Null: only shape functions do.
  Evaluator evaluate = nullptr;
  // Infers a node of the graph for the first time in this plan, and returns false after an error of this or
  // an earlier node. Null: the graph is inferred.
  std::function<bool(NodeId)> infer = nullptr;
  // Returns the quantization of the constant filter of a convolution or matmul (input 1). Null: filters are
  // not quantized.
  std::function<FilterQuantization(const Node&, const TensorValue&)> quantize_filter = nullptr;
  // The order of the graph.
  NodeOrder* order = nullptr;
};

}  // namespace nnefc::ir

// The costs of a graph of OpenVINO operations: parameters, multiply-accumulates and bytes of activations.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/graph.h"

namespace nnefc::ir::ops {

// The costs of one operation that is not computed from constants alone.
struct OperationCosts {
  NodeId node;
  // Elements and bytes of the float constants that this operation is the first to use, directly or through
  // operations on constants, and those of its bodies. Scalars and integers, such as shapes, do not count.
  int64_t parameters = 0;
  int64_t parameter_bytes = 0;
  // Multiply-accumulates, as a conv counts one for each filter element and output element. A loop has those
  // of all iterations, an If those of the costlier branch.
  double macs = 0;
  int64_t output_bytes = 0;
  // The bytes of inputs and outputs that are needed while the operation runs; see GraphCosts::peak_bytes.
  int64_t alive_bytes = 0;
};

struct GraphCosts {
  std::vector<OperationCosts> operations;  // in topological order
  int64_t parameters = 0;
  int64_t parameter_bytes = 0;
  double macs = 0;
  int64_t output_bytes = 0;
  // The largest sum of the bytes of inputs and outputs that are needed at once, if the operations run in this
  // order and each output has memory of its own until its last use; and the operation that runs then.
  int64_t peak_bytes = 0;
  NodeId peak_node;
};

// Returns the costs of a lowered graph; nothing if it has a cycle, or a shape or a number of iterations that
// is unknown.
std::optional<GraphCosts> FindCosts(const Graph& graph);

}  // namespace nnefc::ir::ops

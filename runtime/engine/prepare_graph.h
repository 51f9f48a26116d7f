#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics.h"
#include "llvm/ADT/DenseMap.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime {

// What is known of the inputs of a graph when it is planned.
struct PlannedInputs {
  std::vector<Shape> shapes;
  // The values of those that are constant; the others are not valid. Empty if
  // none is.
  std::vector<TensorValue> constants = {};
};

// By node: the inputs by whose values it is to be judged, which a run alone knows.
using UnjudgedInputs = llvm::DenseMap<ir::NodeId, llvm::SmallVector<int32_t, 2>>;

struct [[nodiscard]] PreparedGraph {
  std::unique_ptr<ir::Graph> graph;  // null if a mistake was emitted
  UnjudgedInputs unjudged = UnjudgedInputs();
  // Nodes of constants that cannot be evaluated, and why: an error of those that
  // are needed.
  std::vector<std::pair<ir::NodeId, std::string>> failures = {};
};

// A copy of the graph for these inputs: shapes inferred as far as they can be,
// nodes of constants evaluated, the taken body in place of an If whose
// condition is constant, dead nodes gone, whatever is wrong with them.
PreparedGraph PrepareGraph(const ir::Graph& graph, const PlannedInputs& inputs, const KernelRegistry& kernels,
                           Emitter& emitter);

}  // namespace nnefc::runtime

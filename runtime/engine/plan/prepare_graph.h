#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/node_order.h"
#include "compiler/support/diagnostics/diagnostics.h"
#include "llvm/ADT/DenseMap.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime::engine::plan {

// The information about a graph's inputs at planning time.
struct PlannedInputs {
  std::vector<Shape> shapes;
  // The values of constant inputs; entries of other inputs are not valid. Empty if no input is constant.
  std::vector<TensorValue> constants = {};
};

// The inputs of each node that its shape function needs but whose values are only known at run time.
using UncheckedInputs = llvm::DenseMap<ir::NodeId, llvm::SmallVector<int32_t, 2>>;

struct PlanOptions;

struct [[nodiscard]] PreparedGraph {
  std::unique_ptr<ir::Graph> graph;  // null if an error was emitted
  ir::NodeOrder order = {};          // of the graph
  UncheckedInputs unchecked = UncheckedInputs();
  // Constant nodes that cannot be evaluated, with the reason. They are errors only if their results are
  // needed.
  std::vector<std::pair<ir::NodeId, std::string>> failures = {};
};

// Returns a copy of the acyclic graph (checked) specialised for these inputs: shapes inferred as far as
// possible, and dead nodes removed, even invalid ones. Transformations replace constant nodes, and each If
// with a constant condition by the selected body.
PreparedGraph PrepareGraph(const ir::Graph& graph, const PlannedInputs& inputs, const PlanOptions& options,
                           Emitter& emitter);

}  // namespace nnefc::runtime::engine::plan

#pragma once

#include <memory>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime {

// What is known of the inputs of a graph when it is planned.
struct PlannedInputs {
  std::vector<Shape> shapes;
  // The values of those that are constant; the others are not valid. Empty if
  // none is.
  std::vector<TensorValue> constants = {};
};

// A copy of the graph for these inputs: shapes inferred as far as they can be,
// nodes of constants evaluated, the taken body in place of an If whose
// condition is constant, dead nodes gone. Null if a mistake was emitted.
std::unique_ptr<ir::Graph> PrepareGraph(const ir::Graph& graph, const PlannedInputs& inputs,
                                        const KernelRegistry& kernels, Emitter& emitter);

}  // namespace nnefc::runtime

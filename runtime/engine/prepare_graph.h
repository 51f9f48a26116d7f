#pragma once

#include <memory>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime {

// A copy of the graph for inputs of these shapes: shapes inferred as far as
// they can be, nodes of constants evaluated, dead nodes gone. Null if a
// mistake was emitted.
std::unique_ptr<ir::Graph> PrepareGraph(const ir::Graph& graph, const std::vector<Shape>& input_shapes,
                                        const KernelRegistry& kernels, Emitter& emitter);

}  // namespace nnefc::runtime

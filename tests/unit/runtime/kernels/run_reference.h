// Runs single operations.
#pragma once

#include <string_view>
#include <vector>

#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::kernels {

// Runs one operation by the reference backend.
inline std::vector<TensorValue> RunReference(std::string_view set, std::string_view name,
                                             const std::vector<TensorValue>& inputs,
                                             const ir::AttributeMap& attributes) {
  TestGraph g;
  std::vector<ir::OutputPort> ports;
  ports.reserve(inputs.size());
  for (const TensorValue& input : inputs) ports.push_back(g.Parameter("x", input.shape(), input.type()));
  g.Result(g.Op(set, name, ports, attributes));
  return RunGraph(g.graph, {.backend = Backend::kReference, .threads = 2}, inputs);
}

}  // namespace nnefc::runtime::kernels

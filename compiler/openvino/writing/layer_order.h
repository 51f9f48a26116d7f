#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace nnefc::openvino {

// The layers of a graph in the order of the file: Parameters, operations after their producers, sinks,
// Results. A layer's id is its index.
struct LayerOrder {
  std::vector<ir::NodeId> layers;
  std::vector<int32_t> ids;  // indexed by NodeId; -1 if omitted
};
LayerOrder OrderLayers(const ir::Graph& graph);

// The inputs of a layer as written. OpenVINO's reader retains only one of several port map entries for the
// same input. An input of If that feeds several parameters of a body is therefore written as several ports.
struct LayerInputs {
  std::vector<ir::OutputPort> ports;
  // Per body, and per entry of its inputs: the port.
  std::vector<std::vector<int32_t>> externals;
};
LayerInputs ListInputs(const ir::Node& node);

// Returns the node's name, or a name from its type and the layer's id.
std::string LayerName(const ir::Node& node, int32_t id);

// Returns the sorted tensor names of an output: its own, or with `order` the names of the layers of its
// Parameter or Results.
std::vector<std::string> TensorNames(const ir::Graph& graph, ir::OutputPort port, const LayerOrder* order);

}  // namespace nnefc::openvino

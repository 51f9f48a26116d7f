#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace nnefc::openvino {

// The layers of a graph in the order of the file: Parameters, operations after
// what feeds them, sinks, Results. A layer's id is its place.
struct LayerOrder {
  std::vector<ir::NodeId> layers;
  std::vector<int32_t> ids;  // by index of the NodeId; -1: left out
};
LayerOrder OrderLayers(const ir::Graph& graph);

// The inputs of a layer as they are written. OpenVINO's reader keeps one of
// several entries of a port map that name the same input, so an input of If
// that feeds several parameters of a body is written as several ports.
struct LayerInputs {
  std::vector<ir::OutputPort> ports;
  // Per body and entry of its inputs: the port.
  std::vector<std::vector<int32_t>> externals;
};
LayerInputs ListInputs(const ir::Node& node);

// The node's name; one made of its type and the layer's id if it has none.
std::string LayerName(const ir::Node& node, int32_t id);

// Tensor names of an output: its own, or else, given `order`, those of the layers
// of the Parameter or the Results that it belongs to. Sorted.
std::vector<std::string> TensorNames(const ir::Graph& graph, ir::OutputPort port, const LayerOrder* order);

}  // namespace nnefc::openvino

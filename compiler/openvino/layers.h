#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/openvino/opset_history.h"
#include "compiler/openvino/xml_file.h"

namespace nnefc::openvino {

// A `<port>` as the file declares it.
struct PortElement {
  pugi::xml_node element;
  int64_t id = 0;
  ElementType precision = ElementType::kDynamic;
  // Without `<dim>` a port is of rank 0 or of unknown rank.
  std::optional<ir::PartialShape> shape;
};

// The output of a layer that an edge begins at.
struct EdgeSource {
  int32_t layer = -1;  // place in Layers::layers
  int32_t output = 0;
};

// A `<layer>` with its edges.
struct LayerElement {
  pugi::xml_node element;
  int64_t id = 0;
  std::string_view name;
  std::string_view type;  // as the file spells it
  std::string_view version;
  ir::OpId op;  // invalid: unknown
  std::vector<PortElement> inputs;
  std::vector<PortElement> outputs;
  std::vector<EdgeSource> sources;  // of each input
  ir::NodeId node;                  // once it is made; stays invalid if nothing uses it
};

// The layers of a graph or body in the order of the file.
struct Layers {
  std::vector<LayerElement> layers;
  std::unordered_map<int64_t, int32_t> by_id;
};

// Reads `<layers>` and `<edges>` of `net` or of a body. Emits: missing and bad
// attributes, repeated ids of layers and ports, edges from or to what is not
// there, two edges into one port, inputs without an edge.
Layers ReadLayers(XmlFile& xml, pugi::xml_node net, OpsetIndex& opsets, Emitter& emitter);

// The layers in the order in which their nodes can be made: each after what
// feeds it, otherwise as in the file. Leaves out, with a warning, what feeds
// no Result and no sink. Nothing, and a diagnostic, if the layers form a cycle.
std::optional<std::vector<int32_t>> OrderOfCreation(XmlFile& xml, const Layers& layers,
                                                    const ir::OpRegistry& registry);

// True if the layer is kept for its effect: Assign, and unknown operations
// without outputs.
bool IsSink(const LayerElement& layer, const ir::OpRegistry& registry);
// True if the layer is the operation of opset1.
bool IsOpset1(const LayerElement& layer, const ir::OpRegistry& registry, std::string_view name);

}  // namespace nnefc::openvino

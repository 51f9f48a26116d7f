#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/openvino/opset_history.h"
#include "compiler/openvino/reading/xml_file.h"

namespace nnefc::openvino {

// A declared `<port>`.
struct PortElement {
  pugi::xml_node element;
  int64_t id = 0;
  ElementType precision = ElementType::kDynamic;
  // A port without `<dim>` has rank 0 or unknown rank.
  std::optional<ir::PartialShape> shape;
};

// The layer output at the start of an edge.
struct EdgeSource {
  int32_t layer = -1;  // index in Layers::layers
  int32_t output = 0;
};

// A `<layer>` with its edges.
struct LayerElement {
  pugi::xml_node element;
  int64_t id = 0;
  std::string_view name;
  std::string_view type;  // spelled as in the file
  std::string_view version;
  ir::OpId op;  // invalid for unknown operations
  std::vector<PortElement> inputs;
  std::vector<PortElement> outputs;
  std::vector<EdgeSource> sources;  // per input
  ir::NodeId node;                  // invalid until created, or if unused
};

// The layers of a graph or body, in the order of the file.
struct Layers {
  std::vector<LayerElement> layers;
  std::unordered_map<int64_t, int32_t> by_id;
};

// Reads `<layers>` and `<edges>` of `net` or of a body. Emits errors for missing and invalid attributes,
// duplicate ids of layers and ports, edges from or to nonexistent ports, two edges into one port, and inputs
// without an edge; then returns nothing.
[[nodiscard]] std::optional<Layers> ReadLayers(XmlReader& xml, pugi::xml_node net, OpsetIndex& opsets,
                                               Emitter& emitter);

// Returns the layers in an order in which their nodes can be created: producers first, otherwise as in the
// file. Omits layers that feed no Result and no sink, with a warning. Emits an error and returns nothing if
// the layers form a cycle.
std::optional<std::vector<int32_t>> OrderOfCreation(XmlReader& xml, const Layers& layers,
                                                    const ir::OpRegistry& registry);

// Returns true for a layer with a side effect: Assign, and unknown operations without outputs.
bool IsSink(const LayerElement& layer, const ir::OpRegistry& registry);
// Returns true if the layer is the operation of opset1.
bool IsOpset1(const LayerElement& layer, const ir::OpRegistry& registry, std::string_view name);

}  // namespace nnefc::openvino

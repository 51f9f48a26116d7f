#pragma once

#include <string_view>
#include <unordered_map>

#include "compiler/openvino/layers.h"
#include "compiler/openvino/reading/xml_file.h"

namespace nnefc::openvino {

// The indices of a body's Parameters and Results, by layer id, for port maps.
struct BodyLayers {
  std::unordered_map<int64_t, int32_t> parameters;
  std::unordered_map<int64_t, int32_t> results;
};

// Reads the port map of the role ("then_body": `<then_port_map>`), and for "body" the back edges, into
// `body`. Emits errors for ids of nonexistent ports, and for ids of layers that are not a Parameter or Result
// of the body.
//
// `external_port_id` is the id of the layer's port or, in files of old converters, its index among the inputs
// or outputs. It is an id if all entries of the layer's port maps are ids of ports, regardless of the order
// of the ports.
void ReadPortMap(XmlReader& xml, const LayerElement& layer, const BodyLayers& inner, ir::Body& body);

}  // namespace nnefc::openvino

#pragma once

#include <string_view>
#include <unordered_map>

#include "compiler/openvino/layers.h"
#include "compiler/openvino/xml_file.h"

namespace nnefc::openvino {

// What a port map needs to know of the body: the places of its Parameters and
// Results by layer id.
struct BodyLayers {
  std::unordered_map<int64_t, int32_t> parameters;
  std::unordered_map<int64_t, int32_t> results;
};

// Reads the port map of the role ("then_body": `<then_port_map>`) and for
// "body" the back edges into `body`. Emits: ids of ports that the layer does
// not have, ids of layers that are no Parameter or Result of the body.
//
// `external_port_id` is the id of the layer's port or, as old converters have
// it, its place among the inputs or outputs: ids, if all entries of the layer's
// port maps are ids of ports, whatever the order that the ports are listed in.
void ReadPortMap(XmlFile& xml, const LayerElement& layer, const BodyLayers& inner, ir::Body& body);

}  // namespace nnefc::openvino

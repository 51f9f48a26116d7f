#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/attribute.h"
#include "compiler/ir/graph.h"
#include "compiler/openvino/reading/xml_file.h"
#include "compiler/openvino/writing/xml_writer.h"

namespace nnefc::openvino {

// rt_info is nested in XML and flat in the IR: `<foo><bar value="1"/></foo>` is the entry "foo/bar" = "1".
// Within an item of a path, `~`, `/` and `:` are written `~0`, `~1` and `~2`.
//
// The path of an entry is, for a graph, the path of elements, and for a node:
//   "fused_names/0/value"       attribute `value` of the layer's <attribute name="fused_names" version="0">
//   "output:1/layout/0/layout"  of its second output; "input:N" likewise
// An element without a value has an empty list.
std::string JoinPath(const std::vector<std::string>& items);
std::vector<std::string> SplitPath(std::string_view path);

// Returns true for entries that OpenVINO's reader itself adds at the top of a graph's rt_info. They are
// neither read nor written.
inline bool IsOfReader(std::string_view key) {
  return key == "version" || key == "__weights_path";
}

// The owner of an entry in a node's rt_info.
enum class RtInfoPlace : uint8_t { kLayer, kInput, kOutput };

// Writes the graph's <rt_info>, possibly empty.
void WriteGraphRtInfo(XmlWriter& xml, const ir::Graph& graph);
// Writes <rt_info> of the layer or of a port, if there is any.
void WriteNodeRtInfo(XmlWriter& xml, const ir::Node& node, RtInfoPlace place, int32_t index = 0);

// Reads the `<rt_info>` of `net` or of a body. If it is missing or empty, reads the `<meta_data>` of old
// converters, as OpenVINO does: `cli_parameters` becomes `conversion_parameters`, and
// `quantization_parameters` becomes `optimization`.
void ReadGraphRtInfo(XmlReader& xml, pugi::xml_node net, ir::Graph& graph);
// Reads the `<rt_info>` of a layer or of a port.
void ReadNodeRtInfo(XmlReader& xml, pugi::xml_node element, ir::Graph& graph, ir::NodeId node,
                    RtInfoPlace place, int32_t index = 0);

}  // namespace nnefc::openvino

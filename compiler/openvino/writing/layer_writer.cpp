// The writer of the layers and edges of an OpenVINO model.

#include "compiler/openvino/writing/layer_writer.h"

#include <algorithm>

#include "compiler/openvino/attribute_text.h"
#include "compiler/openvino/rt_info.h"
#include "fmt/format.h"

namespace nnefc::openvino {

namespace {

// Returns "then_port_map" for "then_body", "port_map" for "body".
std::string PortMapTag(std::string_view role) {
  constexpr std::string_view kBody = "body";
  const std::string_view prefix = role.ends_with(kBody) ? role.substr(0, role.size() - kBody.size()) : "";
  return fmt::format("{}port_map", prefix);
}

struct Range {
  std::optional<int64_t> axis;
  int64_t start, end, stride, part_size;
};

// Normalizes a range over a whole axis to the forms (0, -1, c) and (-1, 0, -c), which all versions of
// OpenVINO interpret identically.
Range Canonical(Range range, const ir::PartialShape& shape) {
  if (!range.axis || !shape.rank_known() || *range.axis < 0 || *range.axis >= shape.rank()) return range;
  const ir::Dim dim = shape[*range.axis];
  if (!dim.known()) return range;
  const auto is_end = [&](int64_t place) { return place == dim.min || place == -1; };
  if (range.stride > 0 && range.start == 0 && is_end(range.end)) range.end = -1;
  if (range.stride < 0 && range.end == 0 && is_end(range.start)) range.start = -1;
  return range;
}

template <typename Mapping>
Range RangeOf(const Mapping& mapping) {
  return {mapping.axis, mapping.start, mapping.end, mapping.stride, mapping.part_size};
}

// Returns whether an input is sliced. Otherwise the range of a concatenation determines the number of
// iterations and must not change.
bool HasSlices(const ir::Body& body) {
  return std::any_of(body.inputs.begin(), body.inputs.end(),
                     [](const ir::InputMapping& mapping) { return mapping.axis.has_value(); });
}

// Returns the type and shape of a Parameter in place of its attributes. Readers need both, but the body that
// a constant condition does not select was never checked: its attributes may be missing or of any kind.
ir::AttributeMap ParameterTensor(const ir::Node& node) {
  ir::AttributeMap attributes;
  if (!node.Is(ir::OpRole::kParameter)) return attributes;
  attributes.Set("element_type", node.output().type);
  attributes.Set("shape", node.output().shape);
  return attributes;
}

void WriteMapping(XmlWriter& xml, std::string_view tag, const Range& range, int64_t external,
                  int64_t internal, std::string_view purpose) {
  xml.Begin(tag);
  if (range.axis) xml.Attribute("axis", *range.axis);
  xml.Attribute("external_port_id", external);
  xml.Attribute("internal_layer_id", internal);
  if (range.axis) {
    xml.Attribute("start", range.start);
    xml.Attribute("end", range.end);
    xml.Attribute("stride", range.stride);
    xml.Attribute("part_size", range.part_size);
  }
  if (external < 0) xml.Attribute("purpose", purpose);
  xml.End();
}

}  // namespace

void LayerWriter::WriteGraph(const ir::Graph& graph) {
  const LayerOrder order = OrderLayers(graph);
  xml_->Begin("layers");
  for (ir::NodeId id : order.layers) WriteLayer(graph, order, graph.node(id));
  xml_->End();
  WriteEdges(graph, order);
  WriteGraphRtInfo(*xml_, graph);
}

void LayerWriter::WriteLayer(const ir::Graph& graph, const LayerOrder& order, const ir::Node& node) {
  const int32_t id = order.ids[static_cast<size_t>(node.id().index)];
  const LayerInputs inputs = ListInputs(node);
  xml_->Begin("layer");
  xml_->Attribute("id", id);
  xml_->Attribute("name", LayerName(node, id));
  xml_->Attribute("type", node.type());
  xml_->Attribute("version", node.set());
  if (node.Is(ir::OpRole::kResult)) {
    const ir::Attribute* names = node.attributes().Find("output_names");
    xml_->Attribute("output_names",
                    names != nullptr ? AttributeText(*names) : JoinNames({LayerName(node, id)}));
  }
  WriteData(node);
  WriteNodeRtInfo(*xml_, node, RtInfoPlace::kLayer);
  WritePorts(graph, order, node, inputs);
  WriteBodies(graph, node, inputs);
  xml_->End();
}

void LayerWriter::WriteData(const ir::Node& node) {
  if (node.Is(ir::OpRole::kConst)) return WriteConstData(node);
  std::vector<std::pair<std::string_view, std::string>> entries;
  const ir::AttributeMap parameter = ParameterTensor(node);
  for (const ir::AttributeInfo& info : node.info().attributes) {
    const ir::Attribute* value = parameter.Find(info.name);
    if (value == nullptr) value = node.attributes().Find(info.name);
    if (value == nullptr && info.fallback && !info.is_extra) value = &*info.fallback;
    if (value != nullptr) entries.emplace_back(info.name, AttributeText(*value, info.kind));
  }
  const bool is_result = node.Is(ir::OpRole::kResult);
  for (const auto& [name, value] : node.attributes()) {
    if (node.info().FindAttribute(name) != nullptr) continue;
    if (is_result && name == "output_names") continue;
    entries.emplace_back(name, AttributeText(value));
  }
  if (entries.empty()) return;
  xml_->Begin("data");
  for (const auto& [name, text] : entries) xml_->Attribute(name, text);
  xml_->End();
}

void LayerWriter::WriteConstData(const ir::Node& node) {
  const std::optional<TensorValue>& value = node.output().value;
  NNEFC_CHECK(value.has_value());
  xml_->Begin("data");
  xml_->Attribute("element_type", Name(value->type()));
  xml_->Attribute("shape", fmt::format("{}", fmt::join(value->shape(), ", ")));
  const uint64_t offset = weights_->Add(*value);
  xml_->Attribute("offset", static_cast<int64_t>(offset));
  xml_->Attribute("size", static_cast<int64_t>(value->byte_size()));
  xml_->End();
}

void LayerWriter::WritePorts(const ir::Graph& graph, const LayerOrder& order, const ir::Node& node,
                             const LayerInputs& inputs) {
  int64_t id = 0;
  if (!inputs.ports.empty()) {
    xml_->Begin("input");
    for (ir::OutputPort port : inputs.ports) {
      WritePort(graph.output(port), id, {}, node, true, static_cast<int32_t>(id));
      ++id;
    }
    xml_->End();
  }
  if (node.num_outputs() == 0) return;
  xml_->Begin("output");
  for (int32_t i = 0; i < node.num_outputs(); ++i) {
    WritePort(node.output(i), id++, TensorNames(graph, node.port(i), &order), node, false, i);
  }
  xml_->End();
}

void LayerWriter::WritePort(const ir::Output& output, int64_t id, const std::vector<std::string>& names,
                            const ir::Node& node, bool is_input, int32_t index) {
  xml_->Begin("port");
  xml_->Attribute("id", id);
  xml_->Attribute("precision", PortName(output.type));
  if (!names.empty()) xml_->Attribute("names", JoinNames(names));
  for (ir::Dim dim : output.shape.dims()) {
    xml_->TextElement("dim", dim.known() ? fmt::to_string(dim.min) : "-1");
  }
  WriteNodeRtInfo(*xml_, node, is_input ? RtInfoPlace::kInput : RtInfoPlace::kOutput, index);
  xml_->End();
}

void LayerWriter::WriteBodies(const ir::Graph& graph, const ir::Node& node, const LayerInputs& inputs) {
  for (size_t i = 0; i < node.bodies().size(); ++i) {
    const ir::Body& body = node.bodies()[i];
    WritePortMap(graph, node, inputs, i, PortMapTag(body.role));
    if (!node.Is(ir::OpRole::kIf)) WriteBackEdges(body, OrderLayers(*body.graph));
  }
  for (const ir::Body& body : node.bodies()) {
    xml_->Begin(body.role);
    WriteGraph(*body.graph);
    xml_->End();
  }
}

void LayerWriter::WritePortMap(const ir::Graph& graph, const ir::Node& node, const LayerInputs& inputs,
                               size_t index, std::string_view tag) {
  const ir::Body& body = node.bodies()[index];
  const LayerOrder inner = OrderLayers(*body.graph);
  const auto layer = [&](ir::NodeId id) { return inner.ids[static_cast<size_t>(id.index)]; };
  const auto first_output = static_cast<int64_t>(inputs.ports.size());
  xml_->Begin(tag);
  for (size_t i = 0; i < body.inputs.size(); ++i) {
    const ir::InputMapping& mapping = body.inputs[i];
    const ir::PartialShape shape =
        mapping.external < 0 ? ir::PartialShape() : graph.output(node.input(mapping.external)).shape;
    WriteMapping(*xml_, "input", Canonical(RangeOf(mapping), shape), inputs.externals[index][i],
                 layer(body.graph->parameters()[static_cast<size_t>(mapping.internal)]), "current_iteration");
  }
  const bool has_slices = HasSlices(body);
  for (const ir::OutputMapping& mapping : body.outputs) {
    const bool is_condition = mapping.external < 0;
    const Range range = has_slices && !is_condition
                            ? Canonical(RangeOf(mapping), node.output(mapping.external).shape)
                            : RangeOf(mapping);
    WriteMapping(*xml_, "output", range, is_condition ? -1 : first_output + mapping.external,
                 layer(body.graph->results()[static_cast<size_t>(mapping.internal)]), "execution_condition");
  }
  xml_->End();
}

void LayerWriter::WriteBackEdges(const ir::Body& body, const LayerOrder& inner) {
  xml_->Begin("back_edges");
  for (const ir::BackEdge& edge : body.back_edges) {
    const ir::NodeId result = body.graph->results()[static_cast<size_t>(edge.result)];
    const ir::NodeId parameter = body.graph->parameters()[static_cast<size_t>(edge.parameter)];
    xml_->Begin("edge");
    xml_->Attribute("from-layer", inner.ids[static_cast<size_t>(result.index)]);
    xml_->Attribute("to-layer", inner.ids[static_cast<size_t>(parameter.index)]);
    xml_->End();
  }
  xml_->End();
}

void LayerWriter::WriteEdges(const ir::Graph& graph, const LayerOrder& order) {
  struct Edge {
    int32_t from_layer, from_port, to_layer, to_port;
    auto operator<=>(const Edge&) const = default;
  };
  std::vector<Edge> edges;
  std::vector<int32_t> first_outputs(graph.node_bound(), 0);
  for (ir::NodeId id : order.layers) {
    const LayerInputs inputs = ListInputs(graph.node(id));
    first_outputs[static_cast<size_t>(id.index)] = static_cast<int32_t>(inputs.ports.size());
    for (size_t i = 0; i < inputs.ports.size(); ++i) {
      const ir::OutputPort source = inputs.ports[i];
      edges.push_back({order.ids[static_cast<size_t>(source.node.index)], source.index,
                       order.ids[static_cast<size_t>(id.index)], static_cast<int32_t>(i)});
    }
  }
  for (Edge& edge : edges) {
    edge.from_port +=
        first_outputs[static_cast<size_t>(order.layers[static_cast<size_t>(edge.from_layer)].index)];
  }
  std::sort(edges.begin(), edges.end());
  xml_->Begin("edges");
  for (const Edge& edge : edges) {
    xml_->Begin("edge");
    xml_->Attribute("from-layer", edge.from_layer);
    xml_->Attribute("from-port", edge.from_port);
    xml_->Attribute("to-layer", edge.to_layer);
    xml_->Attribute("to-port", edge.to_port);
    xml_->End();
  }
  xml_->End();
}

}  // namespace nnefc::openvino

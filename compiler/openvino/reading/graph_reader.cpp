// The reader that builds graphs from the layers and edges of an OpenVINO model.

#include "compiler/openvino/reading/graph_reader.h"

#include <algorithm>

#include "compiler/ir/algorithms/verify.h"
#include "compiler/openvino/attribute_text.h"
#include "compiler/openvino/limits.h"
#include "compiler/openvino/rt_info.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::openvino {

namespace {

constexpr int kMaxWarnings = 100;  // about unknown attributes

std::string_view Shown(std::string_view name) {
  return name.substr(0, kShown);
}

// Returns a truncated shape: a file's shape may have a million extents.
std::string ShownShape(const ir::PartialShape& shape) {
  std::string text = ir::ToString(shape);
  if (text.size() <= kShown * 4) return text;
  return fmt::format("{}.., of rank {}", text.substr(0, kShown * 4), shape.rank());
}

// Returns whether an element is a body; unknown operations may use other prefixes.
bool IsBodyTag(std::string_view tag) {
  return tag == "body" || tag.ends_with("_body");
}

// Returns the bodies with `then_body` first, regardless of the order in the file.
std::vector<pugi::xml_node> BodyElements(XmlReader& xml, pugi::xml_node layer) {
  std::vector<pugi::xml_node> bodies;
  for (pugi::xml_node child : layer.children()) {
    if (IsBodyTag(child.name()) && xml.Child(layer, child.name()) == child) bodies.push_back(child);
  }
  std::stable_sort(bodies.begin(), bodies.end(), [](pugi::xml_node a, pugi::xml_node b) {
    return std::string_view(a.name()) == "then_body" && std::string_view(b.name()) != "then_body";
  });
  return bodies;
}

}  // namespace

std::unique_ptr<ir::Graph> GraphReader::Read() {
  return ReadNet(file_->root(), 0, nullptr);
}

// The recursion depth is at most ir::kMaxBodyNesting.
std::unique_ptr<ir::Graph> GraphReader::ReadNet(pugi::xml_node net, int depth, BodyLayers* places) {
  XmlReader xml(*file_);
  std::optional<Layers> layers = ReadLayers(xml, net, opsets_, *emitter_);
  if (!layers) return nullptr;
  const bool has_end =
      std::any_of(layers->layers.begin(), layers->layers.end(), [&](const LayerElement& layer) {
        return IsOpset1(layer, *registry_, "Result") || IsSink(layer, *registry_);
      });
  if (!has_end) {
    xml.Error(kNetNoResult, xml.Range(net), "`{}` has no Result", net.name()).Notes(xml.LayerNote(net));
    return nullptr;
  }
  const std::optional<std::vector<int32_t>> order = OrderOfCreation(xml, *layers, *registry_);
  if (!order) return nullptr;
  auto graph = std::make_unique<ir::Graph>(registry_, net.attribute("name").value());
  bool all_made = true;
  for (int32_t place : *order) {
    if (emitter_->exhausted()) return nullptr;
    all_made &= MakeNode(xml, *graph, layers->layers, layers->layers[static_cast<size_t>(place)], depth);
  }
  if (!all_made || xml.has_errors()) return nullptr;
  for (const LayerElement& layer : layers->layers) {
    if (IsOpset1(layer, *registry_, "Parameter")) {
      if (places != nullptr) places->parameters[layer.id] = static_cast<int32_t>(graph->parameters().size());
      graph->AddToParameters(layer.node);
    } else if (IsOpset1(layer, *registry_, "Result")) {
      if (places != nullptr) places->results[layer.id] = static_cast<int32_t>(graph->results().size());
      graph->AddToResults(layer.node);
    }
  }
  ReadGraphRtInfo(xml, net, *graph);
  if (xml.has_errors()) return nullptr;
  if (depth == 0) NameResults(*graph, std::string_view(net.attribute("version").value()) == "10");
  graphs_.push_back({graph.get(), std::move(*layers)});
  return graph;
}

ir::OpId GraphReader::OperationOf(const LayerElement& layer) {
  if (layer.op.valid()) return layer.op;
  const ir::OpId known = registry_->Find(layer.version, layer.type);
  if (known.valid()) return known;
  return registry_->Add({.set = std::string(layer.version),
                         .name = std::string(layer.type),
                         .section = {},
                         .inputs = {{.name = "inputs", .variadic = true}},
                         .outputs = {"outputs[]"}});
}

// Validates the number of outputs. Files may omit the last outputs; `num_outputs` is the node's number.
bool GraphReader::CheckOutputs(XmlReader& xml, const LayerElement& layer, const ir::OpInfo& info,
                               int32_t& num_outputs) {
  const auto declared = static_cast<int32_t>(layer.outputs.size());
  num_outputs = declared;
  if (!info.outputs.empty() && info.outputs.back().ends_with("[]")) return true;
  const auto most = static_cast<int32_t>(info.outputs.size());
  num_outputs = most;
  if (declared <= most) return true;
  xml.Error(kLayerOutputs, xml.Range(layer.element), "the layer `{}` declares {} outputs; `{}` has {}",
            Shown(layer.name), declared, info.name, most);
  return false;
}

// Checks the operations whose number of inputs readers of graphs rely on; shape functions check the others.
bool GraphReader::CheckInputs(XmlReader& xml, const LayerElement& layer) {
  const bool is_source = IsOpset1(layer, *registry_, "Parameter") || IsOpset1(layer, *registry_, "Const");
  const size_t expected = is_source ? 0 : 1;
  if (!is_source && !IsOpset1(layer, *registry_, "Result")) return true;
  if (layer.inputs.size() == expected) return true;
  xml.Error(kLayerInputs, xml.Range(layer.element), "the {} `{}` has {} inputs; expected {}",
            registry_->Info(layer.op).name, Shown(layer.name), layer.inputs.size(), expected);
  return false;
}

bool GraphReader::MakeNode(XmlReader& xml, ir::Graph& graph, std::vector<LayerElement>& layers,
                           LayerElement& layer, int depth) {
  const ir::OpId op = OperationOf(layer);
  int32_t num_outputs = 0;
  const bool outputs_fit = CheckOutputs(xml, layer, registry_->Info(op), num_outputs);
  std::vector<ir::OutputPort> inputs;
  for (EdgeSource source : layer.sources) {
    const ir::NodeId feeder = layers[static_cast<size_t>(source.layer)].node;
    if (!feeder.valid()) return false;  // its producer had an error
    inputs.push_back({feeder, source.output});
  }
  if (!outputs_fit || !CheckInputs(xml, layer)) return false;
  layer.node = graph.AddNode({.op = op,
                              .name = std::string(layer.name),
                              .inputs = inputs,
                              .attributes = ReadAttributes(xml, layer),
                              .num_outputs = num_outputs,
                              .origin = {.range = xml.Range(layer.element), .frame = nullptr}});
  SetDeclaredOutputs(graph, layer);
  if (!layer.op.valid() && num_outputs == 0) graph.AddToSinks(layer.node);
  if (IsOpset1(layer, *registry_, "Const")) {
    if (std::optional<TensorValue> value = constants_.Read(xml, layer)) {
      graph.SetOutputType({layer.node, 0}, value->type(),
                          ir::PartialShape(llvm::ArrayRef<int64_t>(value->shape())));
      graph.SetOutputValue({layer.node, 0}, std::move(value));
    }
  }
  const bool has_bodies = ReadBodies(xml, graph, layer, depth);
  ReadAllRtInfo(xml, graph, layer);
  return has_bodies && !xml.has_errors();
}

ir::AttributeMap GraphReader::ReadAttributes(XmlReader& xml, const LayerElement& layer) {
  ir::AttributeMap attributes;
  if (IsOpset1(layer, *registry_, "Const")) return attributes;
  // Attributes that are not in `<data>` or have a dedicated reader.
  llvm::SmallVector<std::string_view, 2> special;
  if (IsOpset1(layer, *registry_, "Result")) {
    special = {"output_names"};
    const pugi::xml_attribute names = layer.element.attribute("output_names");
    if (names) attributes.Set("output_names", SplitNames(names.value()));
  } else if (IsOpset1(layer, *registry_, "Parameter")) {
    special = {"element_type", "shape"};
    if (const std::optional<DeclaredTensor> tensor = ReadDeclaredTensor(xml, layer)) {
      attributes.Set("element_type", tensor->type);
      attributes.Set("shape", tensor->shape);
    }
  }
  const ir::OpInfo* row = layer.op.valid() ? &registry_->Info(layer.op) : nullptr;
  if (row != nullptr && row->infer == nullptr) row = nullptr;
  for (pugi::xml_attribute attribute : xml.Child(layer.element, "data").attributes()) {
    const std::string_view name = attribute.name();
    const std::string_view text = attribute.value();
    if (std::find(special.begin(), special.end(), name) != special.end()) continue;
    const ir::AttributeInfo* expected = row != nullptr ? row->FindAttribute(name) : nullptr;
    if (expected == nullptr) {
      if (row != nullptr && num_unknown_attributes_++ < kMaxWarnings) {
        xml.Error(kLayerUnknownAttribute, xml.Range(attribute),
                  "`{}` has no attribute `{}`; it has no effect", row->name, Shown(name));
      }
      attributes.Set(name, text);
      continue;
    }
    const auto choice =
        std::find_if(expected->choices.begin(), expected->choices.end(),
                     [&](std::string_view candidate) { return EqualsIgnoringCase(candidate, text); });
    if (choice != expected->choices.end()) {
      attributes.Set(name, *choice);
      continue;
    }
    if (std::optional<ir::Attribute> value = ParseAttribute(text, expected->kind)) {
      attributes.Set(name, std::move(*value));
      continue;
    }
    xml.Error(kXmlAttributeValue, xml.Range(attribute), "`{}` of `{}` is `{}`; expected {}", name, row->name,
              Shown(text), KindText(expected->kind))
        .Notes(xml.LayerNote(xml.Child(layer.element, "data")));
  }
  return attributes;
}

void GraphReader::SetDeclaredOutputs(ir::Graph& graph, const LayerElement& layer) {
  for (size_t i = 0; i < layer.outputs.size(); ++i) {
    const PortElement& port = layer.outputs[i];
    const ir::OutputPort output{layer.node, static_cast<int32_t>(i)};
    graph.SetOutputType(output, port.precision, port.shape.value_or(ir::PartialShape::OfRank(0)));
    graph.SetOutputNames(output, SplitNames(port.element.attribute("names").value()));
  }
  // Inputs of a body are compared with the type of its Parameter, not of the port.
  if (!IsOpset1(layer, *registry_, "Parameter")) return;
  const ir::AttributeMap& attributes = graph.node(layer.node).attributes();
  const ir::Attribute* type = attributes.Find("element_type");
  const ir::Attribute* shape = attributes.Find("shape");
  if (type == nullptr || shape == nullptr) return;
  graph.SetOutputType({layer.node, 0}, *type->get<ElementType>(), *shape->get<ir::PartialShape>());
}

bool GraphReader::ReadBodies(XmlReader& xml, ir::Graph& graph, const LayerElement& layer, int depth) {
  const std::vector<pugi::xml_node> elements = BodyElements(xml, layer.element);
  if (elements.empty()) return true;
  if (const ir::OpInfo& row = graph.node(layer.node).info(); !ir::MayHaveBodies(row)) {
    xml.Error(kLayerUnknownAttribute, xml.Range(elements.front()),
              "`{}` has no bodies; the element `{}` has no effect", row.name, Shown(elements.front().name()));
    return true;
  }
  if (depth == ir::kMaxBodyNesting) {
    xml.Error(kNetNesting, xml.Range(layer.element), "the nesting depth exceeds the maximum of {} bodies",
              ir::kMaxBodyNesting);
    return false;
  }
  bool all_read = true;
  for (pugi::xml_node element : elements) {
    BodyLayers inner;
    ir::Body body;
    body.role = element.name();
    body.graph = ReadNet(element, depth + 1, &inner);
    all_read &= body.graph != nullptr;
    if (body.graph == nullptr) continue;
    ReadPortMap(xml, layer, inner, body);
    graph.AddBody(layer.node, std::move(body));
  }
  return all_read;
}

void GraphReader::ReadAllRtInfo(XmlReader& xml, ir::Graph& graph, const LayerElement& layer) {
  ReadNodeRtInfo(xml, layer.element, graph, layer.node, RtInfoPlace::kLayer);
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    ReadNodeRtInfo(xml, layer.inputs[i].element, graph, layer.node, RtInfoPlace::kInput,
                   static_cast<int32_t>(i));
  }
  for (size_t i = 0; i < layer.outputs.size(); ++i) {
    ReadNodeRtInfo(xml, layer.outputs[i].element, graph, layer.node, RtInfoPlace::kOutput,
                   static_cast<int32_t>(i));
  }
}

// Returns OpenVINO's name of a tensor that has none, in models of version 10: that of its layer, with the
// number of the output if the layer has several.
std::string NameByLayer(const ir::Graph& graph, ir::OutputPort tensor) {
  const ir::Node& layer = graph.node(tensor.node);
  return layer.num_outputs() == 1 ? layer.name() : fmt::format("{}.{}", layer.name(), tensor.index);
}

// Names results by their tensor names, as users of OpenVINO do. A layer's name is preferred if it is
// among them or if another result has the same tensor name. Tensors of version 10 have the names of layers.
void GraphReader::NameResults(ir::Graph& graph, bool is_version_10) {
  std::vector<std::string> chosen;
  llvm::StringMap<int> uses;
  for (ir::NodeId id : graph.results()) {
    const ir::Node& result = graph.node(id);
    const ir::Attribute* given = result.attributes().Find("output_names");
    std::vector<std::string> names = graph.output(result.input(0)).names;
    if (given != nullptr && given->ListSize() > 0) names = *given->get<ir::Attribute::Strings>();
    if (names.empty() && is_version_10) names.push_back(NameByLayer(graph, result.input(0)));
    const bool keeps_name =
        names.empty() || std::find(names.begin(), names.end(), result.name()) != names.end();
    chosen.push_back(keeps_name ? result.name() : names.front());
    ++uses[chosen.back()];
  }
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (uses[chosen[i]] == 1) graph.SetName(graph.results()[i], chosen[i]);
  }
}

// ---- declared against inferred ----

namespace {

// Returns whether a Convert declares the stored type of a constant. OpenVINO's weight compression adds such a
// Convert, with the precision of the stored constant instead of its own.
bool IsStoredPrecision(const ir::Graph& graph, ir::OutputPort value, ElementType declared) {
  const ir::Node& node = graph.node(value.node);
  return node.Is("opset1", "Convert") && node.rt_info().Find("decompression/0") != nullptr &&
         graph.output(node.input(0)).type == declared;
}

// Collects the bodies of a graph that were not inferred; all of them if the graph is such a body itself.
void FindUntakenBodies(const ir::Graph& graph, llvm::DenseSet<const ir::Graph*>& found) {
  const bool all = found.contains(&graph);
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    for (const ir::Body& body : node.bodies()) {
      if (all || ir::IsUntaken(graph, node, body)) found.insert(body.graph.get());
    }
  }
}

}  // namespace

bool GraphReader::CompareDeclared() {
  XmlReader xml(*file_);
  llvm::DenseSet<const ir::Graph*> untaken;
  // Enclosing graphs were read after their bodies.
  for (const ReadGraph& read : llvm::reverse(graphs_)) {
    FindUntakenBodies(*read.graph, untaken);
    if (untaken.contains(read.graph)) continue;
    for (const LayerElement& layer : read.layers.layers) {
      if (layer.node.valid()) CompareLayer(xml, *read.graph, layer);
    }
  }
  return !xml.has_errors();
}

void GraphReader::CompareLayer(XmlReader& xml, const ir::Graph& graph, const LayerElement& layer) {
  const ir::Node& node = graph.node(layer.node);
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    CompareDims(xml, layer.inputs[i], graph.output(node.input(static_cast<int32_t>(i))), layer.name);
  }
  for (size_t i = 0; i < layer.outputs.size(); ++i) {
    const ir::OutputPort value{layer.node, static_cast<int32_t>(i)};
    ComparePrecision(xml, layer.outputs[i], graph, value, layer.name);
    CompareDims(xml, layer.outputs[i], graph.output(value), layer.name);
  }
}

// Warns about a declared precision that differs. Declarations of inputs are meaningless, and so are those of
// outputs with inferred types; a difference indicates a faulty producer of the file.
void GraphReader::ComparePrecision(XmlReader& xml, const PortElement& port, const ir::Graph& graph,
                                   ir::OutputPort value, std::string_view layer) {
  constexpr ElementType kUnknown = ElementType::kDynamic;
  const ir::Output& output = graph.output(value);
  if (port.precision == kUnknown || output.type == kUnknown || port.precision == output.type ||
      IsStoredPrecision(graph, value, port.precision)) {
    return;
  }
  xml.Error(kPortPrecision, xml.Range(port.element),
            "port {} of the layer `{}` declares {}; it is {}, which is taken", port.id, Shown(layer),
            PortName(port.precision), PortName(output.type));
}

void GraphReader::CompareDims(XmlReader& xml, const PortElement& port, const ir::Output& output,
                              std::string_view layer) {
  if (!port.shape || !output.shape.rank_known()) return;
  const bool same_rank = port.shape->rank() == output.shape.rank();
  const auto differs = [](ir::Dim a, ir::Dim b) { return !a.Compatible(b); };
  if (same_rank && std::equal(port.shape->dims().begin(), port.shape->dims().end(),
                              output.shape.dims().begin(), std::not_fn(differs))) {
    return;
  }
  xml.Error(kPortDims, xml.Range(port.element), "port {} of the layer `{}` declares the shape {}; it is {}",
            port.id, Shown(layer), ShownShape(*port.shape), ShownShape(output.shape));
}

}  // namespace nnefc::openvino

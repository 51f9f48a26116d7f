// The reader of `<layer>` and `<edge>` elements, and the order of the nodes created from them.

#include "compiler/openvino/layers.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "compiler/openvino/attribute_text.h"
#include "compiler/openvino/limits.h"

namespace nnefc::openvino {

namespace {

constexpr size_t kShownUnused = 20;  // limit of listed unused layers

class LayerReader {
 public:
  LayerReader(XmlReader& xml, OpsetIndex& opsets, Emitter& emitter)
      : xml_(xml), opsets_(opsets), emitter_(emitter) {}

  std::optional<Layers> Read(pugi::xml_node net) {
    const pugi::xml_node layers = xml_.RequiredChild(net, "layers");
    const pugi::xml_node edges = xml_.RequiredChild(net, "edges");
    const auto elements = layers.children("layer");
    const auto count = static_cast<size_t>(std::distance(elements.begin(), elements.end()));
    result_.layers.reserve(count);
    result_.by_id.reserve(count);
    for (pugi::xml_node element : elements) {
      if (emitter_.exhausted()) return std::nullopt;
      ReadLayer(element);
    }
    ReadEdges(edges);
    CheckConnected();
    if (xml_.has_errors()) return std::nullopt;
    return std::move(result_);
  }

 private:
  void ReadLayer(pugi::xml_node element) {
    const std::optional<int64_t> id = xml_.Integer(element, "id", 0);
    const auto name = xml_.Text(element, "name");
    const auto type = xml_.Text(element, "type");
    const auto version = xml_.Text(element, "version");
    if (!id || !name || !type || !version) return;
    if (!CheckSpelling(element, *type, *version)) return;
    const auto [entry, is_new] = result_.by_id.try_emplace(*id, static_cast<int32_t>(result_.layers.size()));
    if (!is_new) {
      const LayerElement& first = result_.layers[static_cast<size_t>(entry->second)];
      xml_.Error(kLayerRepeatedId, xml_.Range(element.attribute("id")),
                 "the layers `{}` and `{}` both have the id {}", first.name.substr(0, kShown),
                 name->substr(0, kShown), *id)
          .Note(xml_.Range(first.element), "the first is here");
      return;
    }
    LayerElement& layer = result_.layers.emplace_back();
    layer.element = element;
    layer.id = *id;
    layer.name = *name;
    layer.type = *type;
    layer.version = *version;
    layer.op = opsets_.Find(*type, *version);
    ReadPorts(element, "input", layer.inputs);
    ReadPorts(element, "output", layer.outputs);
    layer.sources.resize(layer.inputs.size());
  }

  // Rejects an empty or reserved operation name, since it could not be written back.
  bool CheckSpelling(pugi::xml_node element, std::string_view type, std::string_view version) {
    if (type.empty()) {
      xml_.Error(kXmlAttributeValue, xml_.Range(element.attribute("type")), "`type` of `layer` is empty");
      return false;
    }
    if (version.empty() || version == ir::kNnefSet) {
      xml_.Error(kLayerVersion, xml_.Range(element.attribute("version")),
                 "`version` of `layer` is `{}`; expected a set of operations such as `opset1`", version);
      return false;
    }
    return true;
  }

  void ReadPorts(pugi::xml_node layer, const char* list, std::vector<PortElement>& ports) {
    std::unordered_set<int64_t> ids;
    for (pugi::xml_node element : xml_.Child(layer, list).children("port")) {
      if (emitter_.exhausted()) return;
      PortElement port;
      port.element = element;
      const std::optional<int64_t> id = xml_.Integer(element, "id", 0);
      if (!id) continue;
      port.id = *id;
      if (!ids.insert(*id).second) {
        xml_.Error(kPortRepeatedId, xml_.Range(element), "the layer has two {} ports with the id {}", list,
                   *id);
      }
      ReadPrecision(element, port);
      ReadDims(element, port);
      ports.push_back(std::move(port));
    }
  }

  void ReadPrecision(pugi::xml_node element, PortElement& port) {
    const pugi::xml_attribute attribute = element.attribute("precision");
    if (!attribute) return;
    const std::optional<ElementType> type = ParseElementType(attribute.value());
    if (type) {
      port.precision = *type;
      return;
    }
    xml_.Error(kXmlAttributeValue, xml_.Range(attribute),
               "`precision` of `port` is `{}`, which is not an element type",
               std::string_view(attribute.value()).substr(0, kShown));
  }

  void ReadDims(pugi::xml_node element, PortElement& port) {
    llvm::SmallVector<ir::Dim, 4> dims;
    for (pugi::xml_node dim : element.children("dim")) {
      const std::string_view text = Trimmed(dim.child_value());
      const std::optional<int64_t> extent = ParseInteger(text);
      if (!extent || *extent < -1) {
        xml_.Error(kXmlAttributeValue, xml_.Range(dim),
                   "`dim` is `{}`; expected an extent, or -1 if it is unknown", text.substr(0, kShown));
        return;
      }
      dims.push_back(*extent == -1 ? ir::Dim() : ir::Dim(*extent));
    }
    if (!dims.empty()) port.shape = ir::PartialShape(llvm::ArrayRef<ir::Dim>(dims));
  }

  // Returns the index of a port by id, with an index only for layers with numerous ports.
  std::optional<size_t> FindPort(const LayerElement& layer, bool is_input, int64_t id) {
    const std::vector<PortElement>& ports = is_input ? layer.inputs : layer.outputs;
    if (ports.size() < kFewPorts) {
      for (size_t i = 0; i < ports.size(); ++i) {
        if (ports[i].id == id) return i;
      }
      return std::nullopt;
    }
    auto& index = port_index_[&ports];
    if (index.empty()) {
      for (size_t i = 0; i < ports.size(); ++i) index.try_emplace(ports[i].id, i);
    }
    const auto entry = index.find(id);
    if (entry == index.end()) return std::nullopt;
    return entry->second;
  }

  struct EdgeEnd {
    int32_t layer;
    int32_t port;
  };

  std::optional<EdgeEnd> ReadEnd(pugi::xml_node edge, const char* layer_name, const char* port_name,
                                 bool is_input) {
    const std::optional<int64_t> layer_id = xml_.Integer(edge, layer_name, 0);
    const std::optional<int64_t> port_id = xml_.Integer(edge, port_name, 0);
    if (!layer_id || !port_id) return std::nullopt;
    const auto entry = result_.by_id.find(*layer_id);
    if (entry == result_.by_id.end()) {
      xml_.Error(kEdgeUnknownLayer, xml_.Range(edge.attribute(layer_name)),
                 "there is no layer with the id {}", *layer_id);
      return std::nullopt;
    }
    const LayerElement& layer = result_.layers[static_cast<size_t>(entry->second)];
    const std::optional<size_t> port = FindPort(layer, is_input, *port_id);
    if (!port) {
      xml_.Error(kEdgeUnknownPort, xml_.Range(edge.attribute(port_name)), "the layer `{}` has no {} port {}",
                 layer.name.substr(0, kShown), is_input ? "input" : "output", *port_id)
          .Note(xml_.Range(layer.element), "the layer is here");
      return std::nullopt;
    }
    return EdgeEnd{entry->second, static_cast<int32_t>(*port)};
  }

  void ReadEdges(pugi::xml_node edges) {
    for (pugi::xml_node edge : edges.children("edge")) {
      if (emitter_.exhausted()) return;
      const auto from = ReadEnd(edge, "from-layer", "from-port", false);
      const auto to = ReadEnd(edge, "to-layer", "to-port", true);
      if (!from || !to) {
        has_bad_edge_ = true;
        continue;
      }
      LayerElement& target = result_.layers[static_cast<size_t>(to->layer)];
      EdgeSource& source = target.sources[static_cast<size_t>(to->port)];
      if (source.layer >= 0) {
        xml_.Error(kEdgeRepeatedInput, xml_.Range(edge), "two edges end at port {} of the layer `{}`",
                   target.inputs[static_cast<size_t>(to->port)].id, target.name.substr(0, kShown));
        continue;
      }
      source = {from->layer, from->port};
    }
  }

  void CheckConnected() {
    if (has_bad_edge_) return;  // already reported
    for (const LayerElement& layer : result_.layers) {
      if (emitter_.exhausted()) return;
      for (size_t i = 0; i < layer.sources.size(); ++i) {
        if (layer.sources[i].layer >= 0) continue;
        xml_.Error(kPortUnconnected, xml_.Range(layer.inputs[i].element),
                   "no edge ends at port {} of the layer `{}`", layer.inputs[i].id,
                   layer.name.substr(0, kShown));
      }
    }
  }

  static constexpr size_t kFewPorts = 32;

  XmlReader& xml_;
  OpsetIndex& opsets_;
  Emitter& emitter_;
  Layers result_;
  std::unordered_map<const std::vector<PortElement>*, std::unordered_map<int64_t, size_t>> port_index_;
  bool has_bad_edge_ = false;
};

// Returns whether a layer is needed even if unused.
bool IsKept(const LayerElement& layer, const ir::OpRegistry& registry) {
  return IsSink(layer, registry) || IsOpset1(layer, registry, "Result") ||
         IsOpset1(layer, registry, "Parameter");
}

}  // namespace

bool IsSink(const LayerElement& layer, const ir::OpRegistry& registry) {
  return layer.op.valid() ? registry.Info(layer.op).is_sink : layer.outputs.empty();
}

bool IsOpset1(const LayerElement& layer, const ir::OpRegistry& registry, std::string_view name) {
  if (!layer.op.valid()) return false;
  const ir::OpInfo& info = registry.Info(layer.op);
  return info.name == name && info.set == "opset1";
}

std::optional<Layers> ReadLayers(XmlReader& xml, pugi::xml_node net, OpsetIndex& opsets, Emitter& emitter) {
  return LayerReader(xml, opsets, emitter).Read(net);
}

std::optional<std::vector<int32_t>> OrderOfCreation(XmlReader& xml, const Layers& layers,
                                                    const ir::OpRegistry& registry) {
  enum class State : uint8_t { kUnused, kUsed, kOpen, kDone };
  const std::vector<LayerElement>& all = layers.layers;
  std::vector<State> states(all.size(), State::kUnused);
  std::vector<int32_t> pending;
  const auto use = [&](int32_t layer) {
    State& state = states[static_cast<size_t>(layer)];
    if (state != State::kUnused) return;
    state = State::kUsed;
    pending.push_back(layer);
  };
  for (size_t i = 0; i < all.size(); ++i) {
    if (IsKept(all[i], registry)) use(static_cast<int32_t>(i));
  }
  while (!pending.empty()) {
    const int32_t layer = pending.back();
    pending.pop_back();
    for (EdgeSource source : all[static_cast<size_t>(layer)].sources) use(source.layer);
  }

  std::vector<int32_t> order;
  struct Visit {
    int32_t layer;
    size_t next_input = 0;
  };
  std::vector<Visit> stack;
  size_t num_unused = 0;
  for (size_t root = 0; root < all.size(); ++root) {
    if (states[root] == State::kUnused && ++num_unused <= kShownUnused) {
      xml.Error(kLayerUnused, xml.Range(all[root].element), "nothing uses the layer `{}`; it is left out",
                all[root].name.substr(0, kShown));
    }
    if (states[root] != State::kUsed) continue;
    states[root] = State::kOpen;
    stack.push_back({static_cast<int32_t>(root)});
    while (!stack.empty()) {
      Visit& visit = stack.back();
      const LayerElement& layer = all[static_cast<size_t>(visit.layer)];
      if (visit.next_input == layer.sources.size()) {
        states[static_cast<size_t>(visit.layer)] = State::kDone;
        order.push_back(visit.layer);
        stack.pop_back();
        continue;
      }
      const int32_t feeder = layer.sources[visit.next_input++].layer;
      State& state = states[static_cast<size_t>(feeder)];
      if (state == State::kOpen) {
        xml.Error(kNetCycle, xml.Range(layer.element), "the layer `{}` feeds itself",
                  layer.name.substr(0, kShown));
        return std::nullopt;
      }
      if (state == State::kDone) continue;
      state = State::kOpen;
      stack.push_back({feeder});
    }
  }
  if (num_unused > kShownUnused) {
    xml.Error(kLayerUnused, xml.Range(all.front().element.parent()),
              "nothing uses {} layers; they are left out", num_unused);
  }
  return order;
}

}  // namespace nnefc::openvino

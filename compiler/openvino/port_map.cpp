// The reader of port maps of layers with bodies.

#include "compiler/openvino/port_map.h"

#include <type_traits>

#include "compiler/openvino/attribute_text.h"

namespace nnefc::openvino {

namespace {

// Reads the `<port_map>` of a TensorIterator or Loop, or the `<then_port_map>` or `<else_port_map>` of an If.
// Its entries connect ports of the layer to Parameters and Results of a body:
//
//     <input external_port_id="0" internal_layer_id="2" axis="1"/>
class PortMapReader {
 public:
  PortMapReader(XmlReader& xml, const LayerElement& layer, const BodyLayers& inner, ir::Body& body)
      : xml_(xml), layer_(layer), inner_(inner), body_(body) {}

  void Read() {
    const std::string prefix = body_.role.substr(0, body_.role.size() - std::string_view("body").size());
    const std::string tag = prefix + "port_map";
    const pugi::xml_node map = xml_.RequiredChild(layer_.element, tag.c_str());
    const Numbering inputs = FindNumbering("input", layer_.inputs);
    const Numbering outputs = FindNumbering("output", layer_.outputs);
    for (pugi::xml_node entry : map.children("input"))
      ReadEntry(entry, inputs, inner_.parameters, body_.inputs);
    for (pugi::xml_node entry : map.children("output"))
      ReadEntry(entry, outputs, inner_.results, body_.outputs);
    if (prefix.empty()) ReadBackEdges();
  }

 private:
  // The interpretation of external_port_id: the id of a port, or the index of a port.
  enum class Meaning : uint8_t { kPortId, kPlace, kNeither };
  // The numbering of a layer's input ports, or of its output ports.
  struct Numbering {
    Meaning meaning = Meaning::kPlace;
    std::unordered_map<int64_t, int32_t> place_of_id;  // the index of each port
    int64_t count = 0;                                 // of ports
    bool has_misfit = false;                           // an entry is neither an id nor an index
  };

  // Determines the numbering from the entries `<tag>` of all port maps of the layer: ids if all entries are
  // ids, otherwise indices if all are indices.
  Numbering FindNumbering(const char* tag, const std::vector<PortElement>& ports) {
    Numbering numbering;
    numbering.count = static_cast<int64_t>(ports.size());
    for (size_t i = 0; i < ports.size(); ++i) {
      numbering.place_of_id.try_emplace(ports[i].id, static_cast<int32_t>(i));
    }
    bool ids_fit = true;
    bool places_fit = true;
    for (pugi::xml_node map : layer_.element.children()) {
      if (!std::string_view(map.name()).ends_with("port_map")) continue;
      for (pugi::xml_node entry : map.children(tag)) {
        const std::optional<int64_t> id = ParsedId(entry);
        if (!id || *id < 0) continue;
        const bool is_id = numbering.place_of_id.contains(*id);
        const bool is_place = *id < numbering.count;
        ids_fit &= is_id;
        places_fit &= is_place;
        numbering.has_misfit |= !is_id && !is_place;
      }
    }
    numbering.meaning = ids_fit ? Meaning::kPortId : places_fit ? Meaning::kPlace : Meaning::kNeither;
    return numbering;
  }

  // Returns external_port_id, or nothing for invalid text, which ReadExternal reports.
  static std::optional<int64_t> ParsedId(pugi::xml_node entry) {
    return ParseInteger(Trimmed(entry.attribute("external_port_id").value()));
  }

  bool IsLoop() const { return layer_.type == "Loop" || !layer_.op.valid(); }

  // Returns the index of the layer's port; -1 for a value that a Loop itself provides or consumes. Emits an
  // error and returns nothing if there is no such port.
  std::optional<int32_t> ReadExternal(pugi::xml_node entry, const Numbering& numbering) {
    const std::optional<int64_t> id = xml_.Integer(entry, "external_port_id");
    if (!id) return std::nullopt;
    const std::string_view purpose = entry.attribute("purpose").value();
    if (*id == -1 && IsLoop() && (purpose == "current_iteration" || purpose == "execution_condition"))
      return -1;
    const auto by_id = numbering.place_of_id.find(*id);
    if (numbering.meaning == Meaning::kPortId && by_id != numbering.place_of_id.end()) return by_id->second;
    const bool is_place = *id >= 0 && *id < numbering.count;
    if (numbering.meaning == Meaning::kPlace && is_place) return static_cast<int32_t>(*id);
    // If neither numbering fits all entries, only report an entry that fits neither, if there is one.
    const bool fits_one = is_place || by_id != numbering.place_of_id.end();
    if (numbering.meaning == Meaning::kNeither && fits_one && numbering.has_misfit) return std::nullopt;
    xml_.Error(kPortMapExternal, xml_.Range(entry.attribute("external_port_id")),
               "`external_port_id` {} matches no {} of the layer `{}`", *id, entry.name(),
               layer_.name.substr(0, 60));
    return std::nullopt;
  }

  // Returns the index of the body's Parameter or Result whose layer id the attribute contains. Emits an error
  // and returns nothing if there is none.
  std::optional<int32_t> ReadInternal(pugi::xml_node entry, const char* attribute,
                                      const std::unordered_map<int64_t, int32_t>& places,
                                      std::string_view kind) {
    const std::optional<int64_t> id = xml_.Integer(entry, attribute, 0);
    if (!id) return std::nullopt;
    const auto place = places.find(*id);
    if (place != places.end()) return place->second;
    xml_.Error(kPortMapInternal, xml_.Range(entry.attribute(attribute)),
               "`{}` {} matches no {} of `{}` of the layer `{}`", attribute, *id, kind, body_.role,
               layer_.name.substr(0, 60));
    return std::nullopt;
  }

  template <typename Mapping>
  void ReadEntry(pugi::xml_node entry, const Numbering& numbering,
                 const std::unordered_map<int64_t, int32_t>& places, std::vector<Mapping>& mappings) {
    const std::string_view kind = std::is_same_v<Mapping, ir::InputMapping> ? "Parameter" : "Result";
    const std::optional<int32_t> external = ReadExternal(entry, numbering);
    const std::optional<int32_t> internal = ReadInternal(entry, "internal_layer_id", places, kind);
    if (!external || !internal) return;
    Mapping mapping;
    mapping.external = *external;
    mapping.internal = *internal;
    if (entry.attribute("axis")) {
      mapping.axis = xml_.Integer(entry, "axis", 0);
      ReadOptional(entry, "start", mapping.start);
      ReadOptional(entry, "end", mapping.end);
      ReadOptional(entry, "stride", mapping.stride);
      ReadOptional(entry, "part_size", mapping.part_size);
    }
    mappings.push_back(mapping);
  }

  void ReadOptional(pugi::xml_node entry, const char* name, int64_t& value) {
    if (!entry.attribute(name)) return;
    if (const std::optional<int64_t> given = xml_.Integer(entry, name)) value = *given;
  }

  void ReadBackEdges() {
    for (pugi::xml_node edge : xml_.Child(layer_.element, "back_edges").children("edge")) {
      const auto result = ReadInternal(edge, "from-layer", inner_.results, "Result");
      const auto parameter = ReadInternal(edge, "to-layer", inner_.parameters, "Parameter");
      if (result && parameter) body_.back_edges.push_back({*result, *parameter});
    }
  }

  XmlReader& xml_;
  const LayerElement& layer_;
  const BodyLayers& inner_;
  ir::Body& body_;
};

}  // namespace

void ReadPortMap(XmlReader& xml, const LayerElement& layer, const BodyLayers& inner, ir::Body& body) {
  PortMapReader(xml, layer, inner, body).Read();
}

}  // namespace nnefc::openvino

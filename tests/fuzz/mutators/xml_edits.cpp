#include "tests/fuzz/mutators/xml_edits.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "tests/fuzz/mutators/boundary_numbers.h"
#include "tests/fuzz/mutators/operation_names.h"

namespace nnefc::fuzz {
namespace {

constexpr auto kTypes = std::to_array<const char*>(
    {"f32", "f16", "bf16", "f64",     "i8",     "i16",    "i32",    "i64", "i4",      "u1",   "u4",  "u8",
     "u16", "u32", "u64",  "boolean", "string", "f8e4m3", "f8e5m2", "nf4", "dynamic", "FP32", "I64", "BOOL"});

// Collects every element, without recursion.
struct Collector : pugi::xml_tree_walker {
  bool for_each(pugi::xml_node& node) override {
    if (node.type() == pugi::node_element) elements.push_back(node);
    return true;
  }
  std::vector<pugi::xml_node> elements;
};

bool IsAncestor(pugi::xml_node ancestor, pugi::xml_node node) {
  for (; node; node = node.parent())
    if (node == ancestor) return true;
  return false;
}

bool IsNumberStart(const std::string& value) {
  return !value.empty() && (value[0] == '-' || (value[0] >= '0' && value[0] <= '9'));
}

// Returns `1,2,3` with one item changed, added or removed.
std::string ChangedList(const std::string& list, Choices& choices) {
  std::vector<std::string> items;
  size_t begin = 0;
  while (begin <= list.size()) {
    const size_t end = std::min(list.find(',', begin), list.size());
    items.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  const size_t at = choices.Below(items.size());
  switch (choices.Below(4)) {
    case 0:
      items.insert(items.begin() + static_cast<ptrdiff_t>(at), items[at]);
      break;
    case 1:
      items.erase(items.begin() + static_cast<ptrdiff_t>(at));
      break;
    default:
      items[at] = BoundaryNumber(items[at], choices);
  }
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ",") + item;
  return text;
}

}  // namespace

XmlEdits::XmlEdits(pugi::xml_document& document, Choices& choices) : choices_(choices) {
  Collector collector;
  document.traverse(collector);
  elements_ = std::move(collector.elements);
}

std::vector<pugi::xml_node> XmlEdits::Find(const char* name) const {
  std::vector<pugi::xml_node> found;
  for (pugi::xml_node element : elements_)
    if (std::string_view(element.name()) == name) found.push_back(element);
  return found;
}

std::string XmlEdits::ChangedValue(const std::string& name, const std::string& value) {
  // Uses the value of the attribute with that name of another element.
  if (choices_.OneIn(4)) {
    std::vector<std::string> others;
    for (pugi::xml_node element : elements_)
      if (const pugi::xml_attribute other = element.attribute(name.c_str()); other)
        others.push_back(other.value());
    if (!others.empty()) return choices_.Pick(others);
  }
  if (value == "true") return "false";
  if (value == "false") return "true";
  if (value.find(',') != std::string::npos) return ChangedList(value, choices_);
  if (IsNumberStart(value)) return choices_.OneIn(8) ? value + ",1" : BoundaryNumber(value, choices_);
  if (name == "element_type" || name == "precision" || name.ends_with("_type")) return choices_.Pick(kTypes);
  static constexpr auto kValues = std::to_array<const char*>(
      {"explicit",   "same_upper",    "same_lower",    "valid",         "floor",    "ceil",
       "ceil_torch", "numpy",         "none",          "pdpd",          "constant", "reflect",
       "edge",       "symmetric",     "mean",          "max",           "min",      "sum",
       "prod",       "nearest",       "linear",        "linear_onnx",   "cubic",    "half_pixel",
       "asymmetric", "align_corners", "bidirectional", "bidirectional", "forward",  "reverse",
       "bilinear",   "ab,bc->ac",     "tanh",          "erf",           "",         "0"});
  return choices_.Pick(kValues);
}

bool XmlEdits::ChangeAttribute() {
  if (elements_.empty()) return false;
  const pugi::xml_node element = choices_.Pick(elements_);
  std::vector<pugi::xml_attribute> attributes(element.attributes_begin(), element.attributes_end());
  if (attributes.empty()) return false;
  pugi::xml_attribute attribute = choices_.Pick(attributes);
  return attribute.set_value(ChangedValue(attribute.name(), attribute.value()).c_str());
}

bool XmlEdits::ChangeText() {
  std::vector<pugi::xml_node> texts;
  for (pugi::xml_node element : elements_)
    if (element.first_child().type() == pugi::node_pcdata) texts.push_back(element);
  if (texts.empty()) return false;
  const pugi::xml_node element = choices_.Pick(texts);
  return element.text().set(BoundaryNumber(element.text().get(), choices_).c_str());
}

bool XmlEdits::RepeatNode() {
  if (elements_.size() < 2) return false;
  const pugi::xml_node node = elements_[1 + choices_.Below(elements_.size() - 1)];
  return node.parent().insert_copy_after(node, node);
}

bool XmlEdits::DeleteNode() {
  if (elements_.size() < 2) return false;
  const pugi::xml_node node = elements_[1 + choices_.Below(elements_.size() - 1)];
  // Prefers a part of a layer to half of the network.
  if (std::string_view(node.name()) == "layers" && !choices_.OneIn(8)) return false;
  return node.parent().remove_child(node);
}

bool XmlEdits::MoveNode() {
  if (elements_.size() < 3) return false;
  const pugi::xml_node node = elements_[1 + choices_.Below(elements_.size() - 1)];
  pugi::xml_node to = choices_.Pick(elements_);
  if (IsAncestor(node, to)) return false;
  return choices_.OneIn(2) ? to.append_move(node) : to.prepend_move(node);
}

// Swaps siblings, or nodes with the same name anywhere.
bool XmlEdits::SwapNodes() {
  if (elements_.empty()) return false;
  const pugi::xml_node first = choices_.Pick(elements_);
  const std::vector<pugi::xml_node> others = Find(first.name());
  const pugi::xml_node second = choices_.OneIn(2) ? first.next_sibling(first.name()) : choices_.Pick(others);
  if (!second || IsAncestor(first, second) || IsAncestor(second, first)) return false;
  const pugi::xml_node copy = first.parent().insert_copy_after(second, first);
  second.parent().insert_copy_after(first, second);
  return copy && first.parent().remove_child(first) && second.parent().remove_child(second);
}

bool XmlEdits::ChangeOperation() {
  const std::vector<pugi::xml_node> layers = Find("layer");
  if (layers.empty()) return false;
  pugi::xml_node layer = choices_.Pick(layers);
  const OperationName& name = choices_.Pick(OperationNames());
  if (!name.set.starts_with("opset")) return false;
  if (!choices_.OneIn(3)) layer.attribute("type").set_value(std::string(name.name).c_str());
  return layer.attribute("version").set_value(std::string(name.set).c_str());
}

bool XmlEdits::ChangeElementType() {
  const std::vector<pugi::xml_node> layers = Find("layer");
  if (layers.empty()) return false;
  const pugi::xml_node layer = choices_.Pick(layers);
  pugi::xml_node data = layer.child("data");
  for (const char* name : {"element_type", "destination_type", "output_type", "index_element_type"}) {
    if (!data.attribute(name)) continue;
    for (pugi::xml_node port : layer.child("output").children("port")) port.remove_attribute("precision");
    return data.attribute(name).set_value(choices_.Pick(kTypes));
  }
  return false;
}

std::vector<pugi::xml_node> XmlEdits::EdgesOf(pugi::xml_node layer, const char* side) const {
  std::vector<pugi::xml_node> found;
  const std::string id = layer.attribute("id").value();
  for (pugi::xml_node edge : layer.parent().parent().child("edges").children("edge"))
    if (id == edge.attribute(side).value()) found.push_back(edge);
  return found;
}

std::string XmlEdits::NewLayerId() const {
  int64_t id = 0;
  for (pugi::xml_node layer : Find("layer")) id = std::max<int64_t>(id, layer.attribute("id").as_int());
  return std::to_string(id + 1);
}

bool XmlEdits::RepeatLayer() {
  const std::vector<pugi::xml_node> layers = Find("layer");
  if (layers.empty()) return false;
  const pugi::xml_node layer = choices_.Pick(layers);
  pugi::xml_node copy = layer.parent().insert_copy_after(layer, layer);
  if (!copy) return false;
  const std::string id = NewLayerId();
  copy.attribute("id").set_value(id.c_str());
  pugi::xml_node edges = layer.parent().parent().child("edges");
  for (pugi::xml_node edge : EdgesOf(layer, "to-layer"))
    edges.append_copy(edge).attribute("to-layer").set_value(id.c_str());
  const std::vector<pugi::xml_node> uses = EdgesOf(layer, "from-layer");
  if (!uses.empty()) choices_.Pick(uses).attribute("from-layer").set_value(id.c_str());
  return true;
}

bool XmlEdits::BypassLayer() {
  const std::vector<pugi::xml_node> layers = Find("layer");
  if (layers.empty()) return false;
  const pugi::xml_node layer = choices_.Pick(layers);
  const std::vector<pugi::xml_node> inputs = EdgesOf(layer, "to-layer");
  if (inputs.empty()) return false;
  for (pugi::xml_node use : EdgesOf(layer, "from-layer"))
    for (const char* name : {"from-layer", "from-port"})
      use.attribute(name).set_value(inputs.front().attribute(name).value());
  for (pugi::xml_node edge : inputs) edge.parent().remove_child(edge);
  return layer.parent().remove_child(layer);
}

bool XmlEdits::MoveEdge() {
  const std::vector<pugi::xml_node> edges = Find("edge");
  if (edges.size() < 2) return false;
  const pugi::xml_node edge = choices_.Pick(edges);
  const pugi::xml_node other = choices_.Pick(edges);
  for (const char* name : {"from-layer", "from-port"})
    edge.attribute(name).set_value(other.attribute(name).value());
  return true;
}

bool XmlEdits::OpenExtents() {
  std::vector<pugi::xml_node> layers = Find("layer");
  if (layers.empty()) return false;
  if (choices_.OneIn(2)) layers = {choices_.Pick(layers)};
  for (pugi::xml_node layer : layers)
    for (pugi::xml_node port : layer.child("output").children("port"))
      for (pugi::xml_node dim : port.children("dim")) dim.text().set("-1");
  return true;
}

bool XmlEdits::ChangeRank() {
  std::vector<pugi::xml_node> parameters;
  for (pugi::xml_node layer : Find("layer"))
    if (std::string_view(layer.attribute("type").value()) == "Parameter") parameters.push_back(layer);
  if (parameters.empty()) return false;
  const pugi::xml_node parameter = choices_.Pick(parameters);
  pugi::xml_attribute shape = parameter.child("data").attribute("shape");
  std::string list = shape.value();
  pugi::xml_node port = parameter.child("output").child("port");
  if (choices_.OneIn(2)) {
    list += list.empty() ? "1" : ",1";
    port.append_child("dim").text().set("1");
  } else {
    list.resize(std::min(list.size(), list.rfind(',') == std::string::npos ? 0 : list.rfind(',')));
    port.remove_child(port.last_child());
  }
  return shape.set_value(list.c_str());
}

bool XmlEdits::ReshapeConst() {
  std::vector<pugi::xml_node> constants;
  for (pugi::xml_node layer : Find("layer"))
    if (std::string_view(layer.attribute("type").value()) == "Const") constants.push_back(layer);
  if (constants.empty()) return false;
  const pugi::xml_node constant = choices_.Pick(constants);
  pugi::xml_node data = constant.child("data");
  const int64_t extent = static_cast<int64_t>(choices_.Below(9));
  const std::string type = data.attribute("element_type").value();
  const size_t digits = type.find_first_of("0123456789");
  const int64_t bits = digits == std::string::npos ? 8 : std::strtoll(type.c_str() + digits, nullptr, 10);
  data.attribute("shape").set_value(std::to_string(extent).c_str());
  data.attribute("size").set_value(std::to_string((extent * (bits % 65) + 7) / 8).c_str());
  pugi::xml_node port = constant.child("output").child("port");
  while (port.remove_child("dim")) {
  }
  port.append_child("dim").text().set(std::to_string(extent).c_str());
  return true;
}

bool XmlEdits::ChangePortMap() {
  std::vector<pugi::xml_node> found;
  for (pugi::xml_node element : elements_) {
    const std::string_view parent = element.parent().name();
    if (parent.ends_with("port_map") || parent.ends_with("back_edges")) found.push_back(element);
  }
  if (found.empty()) return false;
  pugi::xml_node entry = choices_.Pick(found);
  static constexpr auto kNames =
      std::to_array<const char*>({"axis", "start", "end", "stride", "part_size", "purpose",
                                  "external_port_id", "internal_layer_id", "from-layer", "to-layer"});
  const char* name = choices_.Pick(kNames);
  pugi::xml_attribute attribute = entry.attribute(name);
  if (attribute && choices_.OneIn(6)) return entry.remove_attribute(name);
  if (!attribute) attribute = entry.append_attribute(name);
  const bool is_purpose = std::string_view(name) == "purpose";
  if (is_purpose) return attribute.set_value(choices_.OneIn(2) ? "current_iteration" : "execution_condition");
  return attribute.set_value(
      BoundaryNumber(attribute.value()[0] == '\0' ? "0" : attribute.value(), choices_).c_str());
}

bool XmlEdits::AddLayer(const pugi::xml_document& other, size_t added_offset) {
  Collector collector;
  const_cast<pugi::xml_document&>(other).traverse(collector);
  std::vector<pugi::xml_node> theirs;
  for (pugi::xml_node element : collector.elements)
    if (std::string_view(element.name()) == "layer") theirs.push_back(element);
  const std::vector<pugi::xml_node> layers = Find("layer");
  const std::vector<pugi::xml_node> edges = Find("edge");
  if (theirs.empty() || layers.empty() || edges.empty()) return false;
  const pugi::xml_node before = choices_.Pick(layers);
  pugi::xml_node layer = before.parent().insert_copy_after(choices_.Pick(theirs), before);
  const std::string id = NewLayerId();
  layer.attribute("id").set_value(id.c_str());
  if (pugi::xml_attribute offset = layer.child("data").attribute("offset"); offset)
    offset.set_value(std::to_string(offset.as_ullong() + added_offset).c_str());
  pugi::xml_node graph_edges = before.parent().parent().child("edges");
  for (pugi::xml_node port : layer.child("input").children("port")) {
    pugi::xml_node edge = graph_edges.append_copy(choices_.Pick(edges));
    edge.attribute("to-layer").set_value(id.c_str());
    edge.attribute("to-port").set_value(port.attribute("id").value());
  }
  // One of the users reads the added layer.
  const std::string port = layer.child("output").child("port").attribute("id").value();
  pugi::xml_node use = choices_.Pick(edges);
  use.attribute("from-layer").set_value(id.c_str());
  use.attribute("from-port").set_value(port.c_str());
  return true;
}

}  // namespace nnefc::fuzz

// The reader of the <rt_info> elements of an OpenVINO model.

#include <algorithm>

#include "compiler/openvino/limits.h"
#include "compiler/openvino/rt_info.h"
#include "fmt/core.h"

namespace nnefc::openvino {

namespace {

// Returns the key of an element: its tag, or `name` for an <info>.
std::string KeyOf(pugi::xml_node element) {
  const pugi::xml_attribute name = element.attribute("name");
  return std::string_view(element.name()) == "info" && name ? name.value() : element.name();
}

// A reader of arbitrarily nested elements into flat entries.
class EntryReader {
 public:
  EntryReader(XmlReader& xml, ir::Graph& graph) : xml_(xml), graph_(graph) {}

  // Reads the content of `top`, except children named `except`; the entries have the prefix `path`.
  void Read(pugi::xml_node top, std::vector<std::string> path, std::string_view except = {}) {
    const size_t base = path.size();
    for (pugi::xml_node element = top.first_child(); element;) {
      if (path.size() == base && element.name() == except) {
        element = element.next_sibling();
        continue;
      }
      path.push_back(KeyOf(element));
      if (path.size() > kDeepestRtInfo) {
        xml_.Error(kRtInfo, xml_.Range(element), "`{}` is nested deeper than {}", top.name(), kDeepestRtInfo);
        return;
      }
      if (!ReadEntry(element, path)) return;
      if (element.first_child()) {
        element = element.first_child();
        continue;
      }
      path.pop_back();
      while (!element.next_sibling() && path.size() > base) {
        element = element.parent();
        path.pop_back();
      }
      element = element.next_sibling();
    }
  }

 private:
  bool ReadEntry(pugi::xml_node element, const std::vector<std::string>& path) {
    if (element.type() != pugi::node_element) return true;  // text between elements
    const std::string_view key = path.back();
    if (path.size() == 1 && IsOfReader(key)) return true;
    pugi::xml_attribute value = element.attribute("value");
    if (!value) value = element.attribute("unset_cli_parameters");
    if (!value && element.first_child()) return true;
    if (graph_.rt_info().size() == kMaxRtInfoEntries) {
      xml_.Error(kRtInfo, xml_.Range(element), "a graph has more than {} entries of rt_info",
                 kMaxRtInfoEntries);
      return false;
    }
    graph_.SetRtInfo(JoinPath(path), value ? ir::Attribute(value.value()) : ir::Attribute());
    return true;
  }

  XmlReader& xml_;
  ir::Graph& graph_;
};

}  // namespace

void ReadGraphRtInfo(XmlReader& xml, pugi::xml_node net, ir::Graph& graph) {
  EntryReader reader(xml, graph);
  const pugi::xml_node info = xml.Child(net, "rt_info");
  reader.Read(info, {});
  if (info.first_child()) return;
  const pugi::xml_node meta = xml.Child(net, "meta_data");
  reader.Read(meta, {}, "cli_parameters");
  for (pugi::xml_node element : meta.children("cli_parameters")) {
    reader.Read(element, {"conversion_parameters"});
  }
  reader.Read(xml.Child(net, "quantization_parameters"), {"optimization"});
}

void ReadNodeRtInfo(XmlReader& xml, pugi::xml_node element, ir::Graph& graph, ir::NodeId node,
                    RtInfoPlace place, int32_t index) {
  const std::string prefix = place == RtInfoPlace::kLayer   ? ""
                             : place == RtInfoPlace::kInput ? fmt::format("input:{}/", index)
                                                            : fmt::format("output:{}/", index);
  std::vector<std::string_view> seen;
  for (pugi::xml_node attribute : xml.Child(element, "rt_info").children("attribute")) {
    const auto name = xml.Text(attribute, "name");
    if (!name) continue;
    if (std::find(seen.begin(), seen.end(), *name) != seen.end()) {
      xml.Error(kRtInfo, xml.Range(attribute), "`rt_info` has the attribute `{}` twice", name->substr(0, 60));
      continue;
    }
    const bool has_all = seen.size() == kMaxAttributes;
    if (has_all || graph.node(node).rt_info().size() >= kMaxRtInfoEntries) {
      xml.Error(kRtInfo, xml.Range(attribute), "a layer has more than {} {} of rt_info",
                has_all ? kMaxAttributes : kMaxRtInfoEntries, has_all ? "attributes" : "entries");
      return;
    }
    seen.push_back(*name);
    const std::vector<std::string> path = {std::string(*name), attribute.attribute("version").value()};
    bool has_field = false;
    for (pugi::xml_attribute field : attribute.attributes()) {
      const std::string_view key = field.name();
      if (key == "name" || key == "version") continue;
      graph.SetRtInfo(node, prefix + JoinPath({path[0], path[1], std::string(key)}), field.value());
      has_field = true;
    }
    if (!has_field) graph.SetRtInfo(node, prefix + JoinPath(path), ir::Attribute());
  }
}

}  // namespace nnefc::openvino

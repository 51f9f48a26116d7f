// The writer of <rt_info> elements.

#include "compiler/openvino/rt_info.h"

#include <memory>

#include "compiler/openvino/attribute_text.h"
#include "fmt/core.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::openvino {

std::string JoinPath(const std::vector<std::string>& items) {
  std::string path;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) path += '/';
    for (char c : items[i]) {
      switch (c) {
        case '~':
          path += "~0";
          break;
        case '/':
          path += "~1";
          break;
        case ':':
          path += "~2";
          break;
        default:
          path += c;
      }
    }
  }
  return path;
}

std::vector<std::string> SplitPath(std::string_view path) {
  std::vector<std::string> items(1);
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '/') {
      items.emplace_back();
    } else if (path[i] == '~' && i + 1 < path.size() && path[i + 1] >= '0' && path[i + 1] <= '2') {
      items.back() += "~/:"[path[++i] - '0'];
    } else {
      items.back() += path[i];
    }
  }
  return items;
}

namespace {

// An element with its children in order of their first entry.
struct Element {
  std::string name;
  const ir::Attribute* value = nullptr;
  std::vector<std::unique_ptr<Element>> children;
  llvm::StringMap<Element*> by_name;

  Element& Child(const std::string& child) {
    Element*& entry = by_name[child];
    if (entry == nullptr) {
      children.push_back(std::make_unique<Element>());
      entry = children.back().get();
      entry->name = child;
    }
    return *entry;
  }
};

bool IsTag(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || !is_letter(name.front()) || name == "info") return false;
  for (char c : name) {
    if (!is_letter(c) && !(c >= '0' && c <= '9') && c != '-' && c != '.') return false;
  }
  return true;
}

void BeginElement(XmlWriter& xml, const Element& element) {
  xml.Begin(IsTag(element.name) ? element.name : "info");
  if (!IsTag(element.name)) xml.Attribute("name", element.name);
  if (element.value != nullptr && !(element.value->IsList() && element.value->ListSize() == 0)) {
    xml.Attribute("value", AttributeText(*element.value));
  }
}

void WriteChildren(XmlWriter& xml, const Element& root) {
  struct Visit {
    const Element* element;
    size_t next = 0;
  };
  std::vector<Visit> stack = {{&root}};
  while (true) {
    Visit& visit = stack.back();
    if (visit.next < visit.element->children.size()) {
      const Element* child = visit.element->children[visit.next++].get();
      BeginElement(xml, *child);
      stack.push_back({child});
      continue;
    }
    stack.pop_back();
    if (stack.empty()) return;
    xml.End();
  }
}

}  // namespace

void WriteGraphRtInfo(XmlWriter& xml, const ir::Graph& graph) {
  Element root;
  for (const auto& [path, value] : graph.rt_info()) {
    const std::vector<std::string> items = SplitPath(path);
    if (items.size() == 1 && IsOfReader(items[0])) continue;
    Element* element = &root;
    for (const std::string& item : items) element = &element->Child(item);
    element->value = &value;
  }
  xml.Begin("rt_info");
  WriteChildren(xml, root);
  xml.End();
}

void WriteNodeRtInfo(XmlWriter& xml, const ir::Node& node, RtInfoPlace place, int32_t index) {
  const std::string prefix = place == RtInfoPlace::kLayer   ? ""
                             : place == RtInfoPlace::kInput ? fmt::format("input:{}/", index)
                                                            : fmt::format("output:{}/", index);
  Element root;
  for (const auto& [path, value] : node.rt_info()) {
    const bool of_port = path.starts_with("input:") || path.starts_with("output:");
    if (of_port != (place != RtInfoPlace::kLayer) || !path.starts_with(prefix)) continue;
    const std::vector<std::string> items = SplitPath(std::string_view(path).substr(prefix.size()));
    if (items.size() < 2) continue;  // not from a file: an entry of nnefc
    Element& attribute = root.Child(JoinPath({items[0], items[1]}));
    if (items.size() > 2) attribute.Child(items[2]).value = &value;
  }
  if (root.children.empty()) return;
  xml.Begin("rt_info");
  for (const auto& attribute : root.children) {
    const std::vector<std::string> items = SplitPath(attribute->name);
    xml.Begin("attribute");
    xml.Attribute("name", items[0]);
    if (!items[1].empty()) xml.Attribute("version", items[1]);
    for (const auto& field : attribute->children) xml.Attribute(field->name, AttributeText(*field->value));
    xml.End();
  }
  xml.End();
}

}  // namespace nnefc::openvino

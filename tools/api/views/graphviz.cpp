// Drawings in Graphviz' language DOT.

#include "tools/api/views/graphviz.h"

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "fmt/format.h"

namespace nnefc::api {
namespace {

using Json = nlohmann::ordered_json;

// Clusters nested deeper are drawn as part of the cluster around them, since Graphviz recurses into them.
constexpr size_t kMaxClusters = 32;
// The maximum number of characters of an attribute in a tooltip.
constexpr size_t kMaxAttribute = 200;

// Returns a text as a quoted string of DOT that is drawn as written: Graphviz replaces escapes such as `\N`
// and entities such as `&amp;`. Line ends remain, other control characters become spaces.
std::string DotString(std::string_view text) {
  std::string quoted = "\"";
  for (const char each : text) {
    switch (each) {
      case '"':
        quoted += "\\\"";
        break;
      case '\\':
        quoted += "\\\\";
        break;
      case '&':
        quoted += "&amp;";
        break;
      case '\n':
        quoted += "\\n";
        break;
      default:
        quoted += static_cast<unsigned char>(each) < ' ' || each == '\x7f' ? ' ' : each;
    }
  }
  return quoted + '"';
}

// Returns a value as text; bytes that are not UTF-8 become U+FFFD.
std::string ValueText(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}
std::string TextOf(const Json& value) {
  return Json::parse(ValueText(value)).get<std::string>();
}

// Returns "f32[1,3,?]", "f32[...]" for an unknown rank.
std::string TypeText(const Json& output) {
  std::string text = output["type"].get<std::string>() + "[";
  if (output["shape"].is_null()) return text + "...]";
  for (size_t i = 0; i < output["shape"].size(); ++i) {
    if (i > 0) text += ',';
    const Json& extent = output["shape"][i];
    text += extent.is_null() ? "?" : fmt::format("{}", extent.get<int64_t>());
  }
  return text + ']';
}

// Writes the statements of one graph.
class Drawer {
 public:
  // `prefix` distinguishes the names of the graph's nodes from those of other graphs.
  Drawer(const Json& graph, std::string prefix, std::string indent, std::string& text)
      : graph_(graph), prefix_(std::move(prefix)), indent_(std::move(indent)), text_(text) {
    for (const Json& node : graph_["nodes"]) {
      by_id_.emplace(node["id"].get<int32_t>(), &node);
      if (node["kind"] != "output") continue;
      for (const Json& input : node["inputs"]) results_.insert(input["node"].get<int32_t>());
    }
  }

  void Draw() {
    FindClusters();
    for (const Json& node : graph_["nodes"]) {
      if (!IsDrawn(node)) continue;
      EnterCluster(ClusterOf(node["scope"].get<int64_t>()));
      DrawNode(node);
    }
    EnterCluster(-1);
    for (const Json& node : graph_["nodes"]) {
      if (IsDrawn(node)) DrawEdges(node);
    }
  }

  std::string Name(int32_t id) const { return fmt::format("{}{}", prefix_, id); }

 private:
  bool IsDrawn(const Json& node) const {
    const bool is_data = node["kind"] == "constant" || node["kind"] == "variable";
    return !is_data || results_.contains(node["id"].get<int32_t>());
  }

  const Json& Scope(int64_t scope) const { return graph_["scopes"][static_cast<size_t>(scope)]; }

  // Computes the cluster of each scope: itself, or the deepest permitted scope around it.
  void FindClusters() {
    for (const Json& scope : graph_["scopes"]) {
      const int64_t parent = scope["parent"].get<int64_t>();
      const size_t depth = parent < 0 ? 1 : depths_[static_cast<size_t>(parent)] + 1;
      const auto index = static_cast<int64_t>(clusters_.size());
      clusters_.push_back(depth <= kMaxClusters ? index : ClusterOf(parent));
      depths_.push_back(depth);
    }
  }
  int64_t ClusterOf(int64_t scope) const { return scope < 0 ? -1 : clusters_[static_cast<size_t>(scope)]; }

  // Closes and opens clusters until the innermost one is `cluster`. A cluster that is opened again has the
  // same name, so Graphviz continues it.
  void EnterCluster(int64_t cluster) {
    std::vector<int64_t> path;
    for (int64_t each = cluster; each >= 0; each = Scope(each)["parent"].get<int64_t>()) path.push_back(each);
    const std::vector<int64_t> target(path.rbegin(), path.rend());
    size_t common = 0;
    while (common < open_.size() && common < target.size() && open_[common] == target[common]) ++common;
    while (open_.size() > common) {
      open_.pop_back();
      Line("}");
    }
    for (; common < target.size(); ++common) {
      const Json& scope = Scope(target[common]);
      Line(fmt::format("subgraph cluster_{}s{} {{", prefix_, target[common]));
      open_.push_back(target[common]);
      Line(fmt::format("label={};",
                       DotString(fmt::format("{}: {}", TextOf(scope["name"]), TextOf(scope["fragment"])))));
    }
  }

  std::string LabelOf(const Json& node) const {
    std::string label = TextOf(node["operation"]);
    if (!TextOf(node["name"]).empty()) label += '\n' + TextOf(node["name"]);
    for (const Json& input : node["inputs"]) {
      const Json& producer = *by_id_.at(input["node"].get<int32_t>());
      if (IsDrawn(producer)) continue;
      const Json& output = producer["outputs"][input["output"].get<size_t>()];
      const bool has_value = output.contains("value") && output["value"].size() == 1;
      label += fmt::format("\n{}{}{}", TextOf(input["name"]), TextOf(input["name"]).empty() ? "" : ": ",
                           has_value ? ValueText(output["value"][0]) : TypeText(output));
    }
    return label;
  }

  static std::string TooltipOf(const Json& node) {
    std::string tooltip = TextOf(node["set"]) + '.' + TextOf(node["operation"]);
    if (!TextOf(node["section"]).empty()) tooltip += fmt::format(" ({})", TextOf(node["section"]));
    for (const auto& [name, value] : node["attributes"].items()) {
      std::string text = ValueText(value);
      if (text.size() > kMaxAttribute) {
        // A cut within a character leaves bytes that TextOf would replace.
        size_t end = kMaxAttribute;
        while ((static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
        text = text.substr(0, end) + "...";
      }
      tooltip += fmt::format("\n{} = {}", TextOf(name), text);
    }
    if (node.contains("macs"))
      tooltip += fmt::format("\n{} parameters, {:.0f} multiply-accumulates, {} bytes",
                             node["parameters"].get<int64_t>(), node["macs"].get<double>(),
                             node["output_bytes"].get<int64_t>());
    if (node.contains("source")) {
      const Json& source = node["source"];
      tooltip += '\n' + TextOf(source["file"]);
      if (source.contains("line"))
        tooltip += fmt::format(":{}:{}", source["line"].get<int>(), source["column"].get<int>());
    }
    return tooltip;
  }

  void DrawNode(const Json& node) {
    const std::string name = Name(node["id"].get<int32_t>());
    const bool is_port = node["kind"] == "input" || node["kind"] == "output";
    Line(fmt::format("{} [label={}, tooltip={}{}];", name, DotString(LabelOf(node)),
                     DotString(TooltipOf(node)), is_port ? ", shape=ellipse, style=solid" : ""));
    if (!node.contains("bodies")) return;
    for (size_t i = 0; i < node["bodies"].size(); ++i) {
      const Json& body = node["bodies"][i];
      const std::string prefix = fmt::format("{}_{}_", name, i);
      Line(fmt::format("subgraph cluster_{} {{", prefix));
      const std::string indent = indent_ + std::string(2 * open_.size() + 2, ' ');
      text_ += fmt::format("{}label={};\n", indent,
                           DotString(fmt::format("{} of {}", TextOf(body["role"]), TextOf(node["name"]))));
      Drawer(body["graph"], prefix, indent, text_).Draw();
      Line("}");
    }
  }

  // Writes the edges to a node: from the producers of its inputs, and those that connect its bodies.
  void DrawEdges(const Json& node) {
    const std::string name = Name(node["id"].get<int32_t>());
    for (const Json& input : node["inputs"]) {
      const Json& producer = *by_id_.at(input["node"].get<int32_t>());
      if (!IsDrawn(producer)) continue;
      Line(fmt::format("{} -> {} [label={}];", Name(producer["id"].get<int32_t>()), name,
                       DotString(TypeText(producer["outputs"][input["output"].get<size_t>()]))));
    }
    if (!node.contains("bodies")) return;
    for (size_t i = 0; i < node["bodies"].size(); ++i)
      DrawBodyEdges(node, node["bodies"][i], fmt::format("{}_{}_", name, i));
  }

  void DrawBodyEdges(const Json& node, const Json& body, const std::string& prefix) {
    const auto inner = [&](const char* list, const Json& index) {
      return fmt::format("{}{}", prefix, body[list][index.get<size_t>()].get<int32_t>());
    };
    for (const Json& mapping : body["inputs"]) {
      const Json& input = node["inputs"][mapping["external"].get<size_t>()];
      const Json& producer = *by_id_.at(input["node"].get<int32_t>());
      // A constant that is not drawn is in the label of the node.
      if (!IsDrawn(producer)) continue;
      Line(fmt::format("{} -> {} [style=dashed];", Name(producer["id"].get<int32_t>()),
                       inner("parameters", mapping["internal"])));
    }
    for (const Json& mapping : body["outputs"])
      Line(fmt::format("{} -> {} [style=dashed];", inner("results", mapping["internal"]),
                       Name(node["id"].get<int32_t>())));
    for (const Json& edge : body["back_edges"])
      Line(fmt::format("{} -> {} [style=dotted, constraint=false];", inner("results", edge["result"]),
                       inner("parameters", edge["parameter"])));
  }

  void Line(std::string_view line) {
    text_ += indent_;
    text_.append(2 * open_.size(), ' ');
    text_ += line;
    text_ += '\n';
  }

  const Json& graph_;
  std::string prefix_;
  std::string indent_;
  std::string& text_;
  std::unordered_map<int32_t, const Json*> by_id_;
  std::unordered_set<int32_t> results_;  // nodes that outputs read
  std::vector<int64_t> clusters_;        // by scope
  std::vector<size_t> depths_;           // by scope
  std::vector<int64_t> open_;            // the clusters around the next statement, outermost first
};

}  // namespace

std::string GraphvizText(const Json& description) {
  const Json& graph = description["graph"];
  std::string text = fmt::format("digraph {} {{\n", DotString(TextOf(graph["name"])));
  text +=
      "  node [shape=box, style=rounded, fontname=\"Helvetica\"];\n"
      "  edge [fontname=\"Helvetica\", fontsize=10];\n"
      "  graph [fontname=\"Helvetica\"];\n";
  Drawer(graph, "n", "  ", text).Draw();
  return text + "}\n";
}

}  // namespace nnefc::api

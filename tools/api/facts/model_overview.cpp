// Overviews of models.

#include "tools/api/facts/model_overview.h"

#include <algorithm>
#include <map>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "tools/api/facts/costs.h"
#include "tools/api/facts/document_facts.h"

namespace nnefc::api {
namespace {

using Json = nlohmann::ordered_json;

bool IsVariable(const ir::Node& node) {
  return node.Is(ir::OpRole::kVariable) || node.Is(ir::OpRole::kConst);
}
bool IsLayer(const ir::Node& node) {
  return !node.info().is_source && !node.Is(ir::OpRole::kResult);
}

// The summary of a graph of NNEF operations.
struct Overview {
  std::map<std::string, int64_t> kinds;  // number of operations by name
  int64_t operations = 0;
  int64_t variables = 0;
  int64_t values = 0;  // elements of all variables
  std::vector<ir::NodeId> layers;
};

Overview Survey(const ir::Graph& graph) {
  Overview overview;
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (IsVariable(node)) {
      ++overview.variables;
      overview.values += node.output().shape.volume().value_or(0);
    }
    if (!IsLayer(node)) continue;
    ++overview.operations;
    ++overview.kinds[node.type()];
    overview.layers.push_back(id);
  }
  return overview;
}

std::string NameOf(const ir::Graph& graph, ir::OutputPort port) {
  const ir::Node& producer = graph.node(port.node);
  bool literal = producer.Is(ir::OpRole::kConstant) && producer.output().names.empty();
  return literal ? "literal" : OutputName(producer, port.index);
}

std::vector<std::pair<std::string, int64_t>> ByCount(const std::map<std::string, int64_t>& kinds) {
  std::vector<std::pair<std::string, int64_t>> sorted(kinds.begin(), kinds.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

// Returns the type of an input, with symbols in open extents: `f32[2*S,4]`.
std::string InputType(const driver::Compilation& compilation, const ir::Node& node) {
  const auto& texts = compilation.expansion().open_extents;
  const auto found = texts.find(node.name());
  if (found == texts.end()) return TypeText(node.output().type, node.output().shape);
  return fmt::format("{}[{}]", Name(node.output().type), fmt::join(found->second, ","));
}

std::string LayersText(const driver::Compilation& compilation, const Overview& overview, int64_t layers,
                       const Painter& paint) {
  std::string text;
  const ir::Graph& graph = compilation.graph();
  int64_t shown = 0;
  for (ir::NodeId id : overview.layers) {
    if (layers >= 0 && shown++ == layers) {
      text += fmt::format("  ... and {} more\n", static_cast<int64_t>(overview.layers.size()) - layers);
      return text;
    }
    const ir::Node& node = graph.node(id);
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    outputs.reserve(static_cast<size_t>(node.num_outputs()));
    for (ir::OutputPort input : node.inputs()) inputs.push_back(NameOf(graph, input));
    for (int32_t i = 0; i < node.num_outputs(); ++i) {
      outputs.push_back(fmt::format("{} {}", OutputName(node, i),
                                    TypeText(node.output(i).type, ShownShape(compilation, node, i))));
    }
    text += fmt::format("  {:<42} = {}( {} )\n", fmt::format("{}", fmt::join(outputs, ", ")),
                        paint.Name(node.type()), fmt::join(inputs, ", "));
  }
  return text;
}

}  // namespace

std::string LanguageOf(const driver::Compilation& compilation) {
  if (compilation.format() == driver::ModelFormat::kOpenVino) return "OpenVINO IR";
  if (compilation.format() == driver::ModelFormat::kGraphText) return "text of a graph";
  return std::string(compilation.checked()->dialect().title);
}

nlohmann::ordered_json ShapeToJson(const ir::PartialShape& shape) {
  if (!shape.rank_known()) return nullptr;
  Json extents = Json::array();
  for (const ir::Dim& dim : shape.dims()) extents.push_back(dim.known() ? Json(dim.min) : Json(nullptr));
  return extents;
}

Json OverviewJson(const driver::Compilation& compilation, int64_t layers) {
  const Overview overview = Survey(compilation.graph());
  const ir::Graph& graph = compilation.graph();
  auto port = [&](const std::string& name, const ir::Node& node, int32_t index) -> Json {
    return {{"name", name},
            {"type", Name(node.output(index).type)},
            {"shape", ShapeToJson(ShownShape(compilation, node, index))}};
  };
  Json json = {{"model", compilation.path()},         {"graph", graph.name()},
               {"language", LanguageOf(compilation)}, {"operations", overview.operations},
               {"variables", overview.variables},     {"parameters", overview.values}};
  for (ir::NodeId id : graph.parameters())
    json["inputs"].push_back(port(graph.node(id).name(), graph.node(id), 0));
  for (ir::NodeId id : graph.results()) {
    const ir::OutputPort result = graph.node(id).input(0);
    json["outputs"].push_back(port(graph.node(id).name(), graph.node(result.node), result.index));
  }
  for (const auto& [kind, count] : ByCount(overview.kinds)) json["kinds"][kind] = count;
  const DocumentFacts facts = FactsOf(compilation);
  for (const auto& [key, value] : facts.properties) json["properties"][key] = value;
  if (!facts.symbols.empty()) json["symbols"] = facts.symbols;
  if (!facts.assertions.empty()) json["assertions"] = facts.assertions;
  json["layers"] = Json::array();
  for (ir::NodeId id : overview.layers) {
    if (layers >= 0 && static_cast<int64_t>(json["layers"].size()) == layers) break;
    const ir::Node& node = graph.node(id);
    Json layer = {{"operation", node.type()}, {"inputs", Json::array()}, {"outputs", Json::array()}};
    for (ir::OutputPort input : node.inputs()) layer["inputs"].push_back(NameOf(graph, input));
    for (int32_t i = 0; i < node.num_outputs(); ++i) {
      layer["outputs"].push_back(port(OutputName(node, i), node, i));
    }
    json["layers"].push_back(std::move(layer));
  }
  return json;
}

std::string OverviewText(const driver::Compilation& compilation, int64_t layers, const Painter& paint) {
  const Overview overview = Survey(compilation.graph());
  std::string text;
  const ir::Graph& graph = compilation.graph();
  const auto head = [&](std::string_view name) { return paint.Head(fmt::format("{:<12}", name)); };
  text += fmt::format("{}{} ({})\n", head("graph"), graph.name(), LanguageOf(compilation));
  const DocumentFacts facts = FactsOf(compilation);
  for (const auto& [key, value] : facts.properties)
    text += fmt::format("{}{}: {}\n", head("property"), key, value);
  if (!facts.symbols.empty()) text += fmt::format("{}{}\n", head("symbols"), fmt::join(facts.symbols, ", "));
  for (const std::string& assertion : facts.assertions)
    text += fmt::format("{}{}\n", head("assertion"), assertion);
  for (ir::NodeId id : graph.parameters()) {
    text += fmt::format("{}{} {}\n", head("input"), graph.node(id).name(),
                        InputType(compilation, graph.node(id)));
  }
  for (ir::NodeId id : graph.results()) {
    const ir::OutputPort result = graph.node(id).input(0);
    text += fmt::format(
        "{}{} {}\n", head("output"), graph.node(id).name(),
        TypeText(graph.output(result).type, ShownShape(compilation, graph.node(result.node), result.index)));
  }
  text += fmt::format("{}{}, {:.2f} million values\n", head("variables"), overview.variables,
                      static_cast<double>(overview.values) / 1e6);
  text += fmt::format("{}{}:", head("operations"), overview.operations);
  for (const auto& [kind, count] : ByCount(overview.kinds))
    text += fmt::format(" {} {}", count, paint.Name(kind));
  text += "\n";
  return layers == 0 ? text : text + LayersText(compilation, overview, layers, paint);
}

}  // namespace nnefc::api

// Descriptions of graphs in JSON.

#include "tools/api/views/graph_description.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <type_traits>
#include <unordered_map>

#include "compiler/driver/data/variable_data.h"
#include "fmt/format.h"
#include "tools/api/facts/document_facts.h"
#include "tools/api/facts/model_overview.h"
#include "tools/api/views/weight_statistics.h"

namespace nnefc::api {
namespace {

using Json = nlohmann::ordered_json;

// The largest constant whose elements are described.
constexpr int64_t kMaxElements = 16;

// JSON has no numbers that are not finite.
Json NumberJson(double number) {
  if (std::isfinite(number)) return number;
  return std::isnan(number) ? "nan" : number < 0 ? "-inf" : "inf";
}

Json ElementsJson(const TensorValue& value) {
  Json elements = Json::array();
  for (int64_t i = 0; i < value.volume(); ++i) {
    if (IsFloat(value.type()))
      elements.push_back(NumberJson(value.ElementAsDouble(i)));
    else if (value.type() == ElementType::kBoolean)
      elements.push_back(value.ElementAsInt(i) != 0);
    else
      elements.push_back(value.ElementAsInt(i));
  }
  return elements;
}

Json AttributeJson(const ir::Attribute& attribute) {
  const auto convert = [](const auto& value) -> Json {
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, double>) {
      return NumberJson(value);
    } else if constexpr (std::is_same_v<Value, ElementType>) {
      return Name(value);
    } else if constexpr (std::is_same_v<Value, ir::AttributeList>) {
      Json items = Json::array();
      for (const ir::Attribute& item : value.items) items.push_back(AttributeJson(item));
      return items;
    } else if constexpr (std::is_same_v<Value, ir::Attribute::Scalars>) {
      Json items = Json::array();
      for (const double item : value) items.push_back(NumberJson(item));
      return items;
    } else if constexpr (std::is_same_v<Value, ir::Boxed<ir::Attribute::Logicals>>) {
      Json items = Json::array();
      for (const bool item : value.get()) items.push_back(item);
      return items;
    } else if constexpr (std::is_same_v<Value, ir::Boxed<ir::PartialShape>>) {
      return ShapeToJson(value.get());
    } else if constexpr (std::is_same_v<Value, ir::Boxed<TensorValue>>) {
      const TensorValue& tensor = value.get();
      Json json = {{"type", Name(tensor.type())},
                   {"shape", std::vector<int64_t>(tensor.shape().begin(), tensor.shape().end())}};
      if (tensor.volume() <= kMaxElements) json["value"] = ElementsJson(tensor);
      return json;
    } else {
      return value;
    }
  };
  return std::visit(convert, attribute.value());
}

std::string_view KindOf(const ir::Node& node) {
  switch (node.info().role) {
    case ir::OpRole::kParameter:
    case ir::OpRole::kExternal:
      return "input";
    case ir::OpRole::kResult:
      return "output";
    case ir::OpRole::kConst:
    case ir::OpRole::kConstant:
      return "constant";
    case ir::OpRole::kVariable:
      return "variable";
    default:
      return "operation";
  }
}

// Returns the name of each input by the signature: `values[1]` for an item of a list.
std::vector<std::string> InputNames(const ir::Node& node) {
  std::vector<std::string> names;
  const std::vector<ir::InputInfo>& entries = node.info().inputs;
  for (size_t entry = 0; entry < entries.size(); ++entry) {
    const size_t count = node.segment(static_cast<int32_t>(entry)).size();
    for (size_t i = 0; i < count; ++i)
      names.push_back(entries[entry].variadic ? fmt::format("{}[{}]", entries[entry].name, i)
                                              : entries[entry].name);
  }
  // Operations without a row accept any number of inputs.
  names.resize(static_cast<size_t>(node.num_inputs()));
  return names;
}

template <typename Mappings>
Json MappingsJson(const Mappings& mappings) {
  Json json = Json::array();
  for (const auto& mapping : mappings) {
    Json& entry = json.emplace_back(Json{{"external", mapping.external}, {"internal", mapping.internal}});
    if (mapping.axis) entry["axis"] = *mapping.axis;
  }
  return json;
}

// The costs of operations by node.
using CostTable = std::map<ir::NodeId, const ir::ops::OperationCosts*>;

CostTable TableOf(const ir::ops::GraphCosts& costs) {
  CostTable table;
  for (const ir::ops::OperationCosts& each : costs.operations) table.emplace(each.node, &each);
  return table;
}

// Reads the data of variables and constants for their statistics.
class DataReader {
 public:
  // The variables of a `graph` of NNEF operations have data if the model has.
  DataReader(driver::Compilation& compilation, const ir::Graph& graph) {
    const package::ModelContainer* model = compilation.model();
    if (model != nullptr && model->has_weights())
      variables_.emplace(*model, graph, compilation.quantization().table, std::nullopt,
                         compilation.context());
  }

  // Returns the statistics of a node's data, or null if it has none.
  Json StatisticsOf(const ir::Node& node) {
    const ir::Output& output = node.output();
    if (node.Is(ir::OpRole::kVariable) && variables_) {
      const std::optional<TensorValue> value =
          variables_->Load(node.attribute("label").AsString(), output.type, output.shape, node.origin());
      return value ? statistics_.Examine(*value) : nullptr;
    }
    // The elements of small constants are described.
    const bool has_data =
        output.value && (output.value->volume() > kMaxElements || output.value->volume() == 0);
    return has_data ? statistics_.Examine(*output.value) : nullptr;
  }

 private:
  std::optional<driver::VariableStore> variables_;
  WeightStatistics statistics_;
};

// Describes one graph, and with it the bodies of its nodes.
class Describer {
 public:
  // `costs` is null without costs, `data` without statistics.
  Describer(const driver::Compilation& compilation, const ir::Graph& graph, const CostTable* costs,
            DataReader* data)
      : compilation_(compilation), graph_(graph), costs_(costs), data_(data) {}

  Json Describe() {
    Json nodes = Json::array();
    const std::optional<std::vector<ir::NodeId>> order = ir::TopologicalOrder(graph_);
    for (const ir::NodeId id : order ? *order : graph_.nodes())
      nodes.push_back(DescribeNode(graph_.node(id)));
    return {{"name", graph_.name()}, {"scopes", std::move(scopes_)}, {"nodes", std::move(nodes)}};
  }

 private:
  // Returns the index of a frame in `scopes_`. Frames may be nested too deeply for recursion.
  int64_t ScopeOf(const ir::Frame* frame) {
    std::vector<const ir::Frame*> missing;
    while (frame != nullptr && !scope_indices_.contains(frame)) {
      missing.push_back(frame);
      frame = frame->parent.get();
    }
    int64_t scope = frame == nullptr ? -1 : scope_indices_.at(frame);
    std::reverse(missing.begin(), missing.end());
    for (const ir::Frame* each : missing) {
      scopes_.push_back({{"name", each->scope}, {"fragment", each->fragment}, {"parent", scope}});
      scope = static_cast<int64_t>(scopes_.size()) - 1;
      scope_indices_.emplace(each, scope);
    }
    return scope;
  }

  Json SourceOf(SourceRange range) const {
    const SourceManager& sources = compilation_.context().sources;
    Json source = {{"file", sources.Name(range.file)}};
    if (sources.Kind(range.file) == FileKind::kText) {
      const LineColumn position = sources.Position(range.start());
      source["line"] = position.line;
      source["column"] = position.column;
    } else if (sources.Kind(range.file) == FileKind::kBinary) {
      source["offset"] = range.begin;
    }
    return source;
  }

  Json OutputsOf(const ir::Node& node) const {
    // Trial extents occur in graphs of documents only, which have no bodies of their own.
    const bool is_document = &graph_ == &compilation_.graph();
    Json outputs = Json::array();
    for (int32_t i = 0; i < node.num_outputs(); ++i) {
      const ir::Output& output = node.output(i);
      const ir::PartialShape shape = is_document ? ShownShape(compilation_, node, i) : output.shape;
      Json& json = outputs.emplace_back(
          Json{{"names", output.names}, {"type", Name(output.type)}, {"shape", ShapeToJson(shape)}});
      const bool is_source = KindOf(node) == "constant";
      if (is_source && output.value && output.value->volume() <= kMaxElements)
        json["value"] = ElementsJson(*output.value);
    }
    return outputs;
  }

  Json DescribeNode(const ir::Node& node) {
    Json json = {{"id", node.id().index},
                 {"name", node.name()},
                 {"operation", node.type()},
                 {"set", node.set()},
                 {"section", node.info().section},
                 {"kind", KindOf(node)},
                 {"scope", ScopeOf(node.origin().frame.get())}};
    if (node.origin().range.valid()) json["source"] = SourceOf(node.origin().range);
    json["attributes"] = Json::object();
    for (const auto& [name, value] : node.attributes()) json["attributes"][name] = AttributeJson(value);
    json["inputs"] = Json::array();
    const std::vector<std::string> names = InputNames(node);
    for (int32_t i = 0; i < node.num_inputs(); ++i) {
      const ir::OutputPort input = node.input(i);
      json["inputs"].push_back(
          {{"name", names[static_cast<size_t>(i)]}, {"node", input.node.index}, {"output", input.index}});
    }
    json["outputs"] = OutputsOf(node);
    if (costs_ != nullptr) AddCosts(node.id(), json);
    if (data_ != nullptr && (json["kind"] == "constant" || json["kind"] == "variable")) {
      Json statistics = data_->StatisticsOf(node);
      if (!statistics.is_null()) json["statistics"] = std::move(statistics);
    }
    for (const ir::Body& body : node.bodies()) json["bodies"].push_back(DescribeBody(body));
    return json;
  }

  void AddCosts(ir::NodeId node, Json& json) const {
    const auto found = costs_->find(node);
    if (found == costs_->end()) return;
    const ir::ops::OperationCosts& costs = *found->second;
    json["parameters"] = costs.parameters;
    json["parameter_bytes"] = costs.parameter_bytes;
    json["macs"] = costs.macs;
    json["output_bytes"] = costs.output_bytes;
    json["alive_bytes"] = costs.alive_bytes;
  }

  // Describes the graph of a body, with the costs of one run if these are known.
  Json DescribeGraphOf(const ir::Body& body) const {
    const std::optional<ir::ops::GraphCosts> costs =
        costs_ == nullptr ? std::nullopt : ir::ops::FindCosts(*body.graph);
    const CostTable table = costs ? TableOf(*costs) : CostTable();
    return Describer(compilation_, *body.graph, costs ? &table : nullptr, data_).Describe();
  }

  Json DescribeBody(const ir::Body& body) const {
    Json back_edges = Json::array();
    for (const ir::BackEdge& edge : body.back_edges)
      back_edges.push_back({{"result", edge.result}, {"parameter", edge.parameter}});
    Json parameters = Json::array();
    for (const ir::NodeId id : body.graph->parameters()) parameters.push_back(id.index);
    Json results = Json::array();
    for (const ir::NodeId id : body.graph->results()) results.push_back(id.index);
    return {{"role", body.role},
            {"parameters", std::move(parameters)},
            {"results", std::move(results)},
            {"inputs", MappingsJson(body.inputs)},
            {"outputs", MappingsJson(body.outputs)},
            {"back_edges", std::move(back_edges)},
            {"graph", DescribeGraphOf(body)}};
  }

  const driver::Compilation& compilation_;
  const ir::Graph& graph_;
  const CostTable* costs_;
  DataReader* data_;
  Json scopes_ = Json::array();
  std::unordered_map<const ir::Frame*, int64_t> scope_indices_;
};

Json Describe(driver::Compilation& compilation, const ir::Graph& graph, const CostTable* costs,
              bool with_statistics) {
  std::optional<DataReader> data;
  if (with_statistics) data.emplace(compilation, compilation.graph());
  Describer describer(compilation, graph, costs, data ? &*data : nullptr);
  return {
      {"model", compilation.path()}, {"language", LanguageOf(compilation)}, {"graph", describer.Describe()}};
}

}  // namespace

Json DescribeModel(driver::Compilation& compilation, bool with_statistics) {
  return Describe(compilation, compilation.graph(), nullptr, with_statistics);
}

Json DescribeLowered(driver::Compilation& compilation, const ModelCosts& costs, bool with_statistics) {
  const CostTable table = TableOf(costs.costs);
  Json json = Describe(compilation, costs.graph, &table, with_statistics);
  json["costs"] = TotalsJson(costs);
  return json;
}

Json DescribeGraph(driver::Compilation& compilation, const ir::Graph& graph) {
  return Describe(compilation, graph, nullptr, /*with_statistics=*/false);
}

}  // namespace nnefc::api

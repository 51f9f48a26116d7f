// The differences between two models.

#include "tools/api/differences/model_difference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <set>

#include "compiler/driver/data/variable_data.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "tools/api/internals.h"
#include "tools/api/model.h"

namespace nnefc::api {
namespace {

using Json = nlohmann::ordered_json;
using Kind = OutlineNode::Kind;

bool IsSamePort(const Port& a, const Port& b) {
  return a.name == b.name && a.type == b.type && a.shape == b.shape;
}

// Returns the absolute difference of two elements; 0 for two NaNs.
double ElementDifference(const TensorValue& a, const TensorValue& b, int64_t i) {
  if (!IsFloat(a.type())) {
    const int64_t x = a.ElementAsInt(i);
    const int64_t y = b.ElementAsInt(i);
    const uint64_t distance = x < y ? static_cast<uint64_t>(y) - static_cast<uint64_t>(x)
                                    : static_cast<uint64_t>(x) - static_cast<uint64_t>(y);
    return static_cast<double>(distance);
  }
  const double x = a.ElementAsDouble(i);
  const double y = b.ElementAsDouble(i);
  if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
  const double distance = std::abs(x - y);
  return std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance;
}

// Compares data of equal type and shape. Returns false if they are equal.
bool CompareData(const TensorValue& before, const TensorValue& after, VariableDifference& difference) {
  if (before.byte_size() == 0 || before.buffer() == after.buffer() ||
      std::memcmp(before.bytes(), after.bytes(), before.byte_size()) == 0)
    return false;
  double largest = 0;
  for (int64_t i = 0; i < before.volume(); ++i) {
    const double distance = ElementDifference(before, after, i);
    if (distance == 0) continue;
    ++difference.num_different;
    largest = std::max(largest, distance);
  }
  difference.largest = largest;
  return difference.num_different > 0;
}

class GraphComparer {
 public:
  GraphComparer(const ComparedGraph& before, const ComparedGraph& after) : before_(before), after_(after) {}

  ModelDifference Compare(bool compares_data) {
    result_.matching = MatchGraphs(before_.outline, after_.outline);
    CompareInputs();
    CompareOutputs();
    CompareOperations();
    CompareVariables(compares_data);
    return std::move(result_);
  }

 private:
  const OutlineNode& Old(size_t node) const { return before_.outline.nodes[node]; }
  const OutlineNode& New(size_t node) const { return after_.outline.nodes[node]; }

  void CompareInputs() {
    const std::vector<size_t>& old_inputs = before_.outline.inputs;
    const std::vector<size_t>& new_inputs = after_.outline.inputs;
    for (size_t i = 0; i < std::max(old_inputs.size(), new_inputs.size()); ++i) {
      const ItemPair pair = PairAt(i, old_inputs.size(), new_inputs.size());
      if (pair.before && pair.after &&
          IsSamePort(Old(old_inputs[i]).outputs.front(), New(new_inputs[i]).outputs.front()))
        continue;
      result_.inputs.push_back(pair);
    }
  }

  void CompareOutputs() {
    const std::vector<GraphOutline::Result>& old_results = before_.outline.outputs;
    const std::vector<GraphOutline::Result>& new_results = after_.outline.outputs;
    for (size_t i = 0; i < std::max(old_results.size(), new_results.size()); ++i) {
      const ItemPair pair = PairAt(i, old_results.size(), new_results.size());
      if (pair.before && pair.after && IsSamePort(old_results[i].port, new_results[i].port) &&
          IsSameSource(old_results[i], new_results[i]))
        continue;
      result_.outputs.push_back(pair);
    }
  }

  // Returns true if results have the same producer, or one that is listed as another operation.
  bool IsSameSource(const GraphOutline::Result& before, const GraphOutline::Result& after) const {
    const GraphMatching& matching = result_.matching;
    if (matching.ReadSame({before.node, before.output}, {after.node, after.output})) return true;
    const bool is_replaced = Old(before.node).kind == Kind::kOperation &&
                             New(after.node).kind == Kind::kOperation && !matching.new_of_old[before.node] &&
                             !matching.old_of_new[after.node];
    return is_replaced;
  }

  static ItemPair PairAt(size_t index, size_t num_before, size_t num_after) {
    return {.before = index < num_before ? std::optional(index) : std::nullopt,
            .after = index < num_after ? std::optional(index) : std::nullopt};
  }

  void CompareOperations() {
    const GraphMatching& matching = result_.matching;
    std::vector<size_t> ranks(before_.outline.nodes.size(), 0);
    std::vector<size_t> removed;  // in order
    for (size_t rank = 0; rank < before_.outline.operations.size(); ++rank) {
      const size_t node = before_.outline.operations[rank];
      ranks[node] = rank;
      if (!matching.new_of_old[node]) removed.push_back(node);
    }
    size_t num_listed = 0;
    for (const size_t node : after_.outline.operations) {
      const std::optional<size_t> old_node = matching.old_of_new[node];
      if (!old_node) {
        result_.operations.push_back({.before = std::nullopt, .after = node});
        continue;
      }
      while (num_listed < removed.size() && ranks[removed[num_listed]] < ranks[*old_node])
        result_.operations.push_back({.before = removed[num_listed++], .after = std::nullopt});
      if (IsChanged(*old_node, node)) result_.operations.push_back({.before = *old_node, .after = node});
      ComparePorts(*old_node, node);
    }
    for (; num_listed < removed.size(); ++num_listed)
      result_.operations.push_back({.before = removed[num_listed], .after = std::nullopt});
  }

  bool IsChanged(size_t old_node, size_t new_node) const {
    const GraphMatching& matching = result_.matching;
    if (matching.old_computations[old_node] == matching.new_computations[new_node]) return false;
    const OutlineNode& before = Old(old_node);
    const OutlineNode& after = New(new_node);
    if (before.inputs.size() != after.inputs.size() || !IsSameOperation(before, after)) return true;
    for (size_t i = 0; i < before.inputs.size(); ++i) {
      if (!matching.ReadSame(before.inputs[i], after.inputs[i])) return true;
    }
    return false;
  }

  // Compares the names, types and shapes of the results of a matched operation.
  void ComparePorts(size_t old_node, size_t new_node) {
    const std::vector<Port>& before = Old(old_node).outputs;
    const std::vector<Port>& after = New(new_node).outputs;
    bool is_renamed = before.size() != after.size();
    for (size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
      is_renamed |= before[i].name != after[i].name;
      if (before[i].type != after[i].type || before[i].shape != after[i].shape)
        result_.tensors.push_back({{.before = old_node, .after = new_node}, static_cast<int32_t>(i)});
    }
    if (is_renamed) result_.renamed.push_back({.before = old_node, .after = new_node});
  }

  // Returns the first variable of each label, in order.
  static std::vector<const OutlineNode*> VariablesOf(const GraphOutline& graph) {
    std::vector<const OutlineNode*> variables;
    std::set<std::string_view> labels;
    for (const OutlineNode& node : graph.nodes) {
      if (node.kind == Kind::kVariable && labels.insert(node.name).second) variables.push_back(&node);
    }
    return variables;
  }

  void CompareVariables(bool compares_data) {
    const std::vector<const OutlineNode*> old_variables = VariablesOf(before_.outline);
    const std::vector<const OutlineNode*> new_variables = VariablesOf(after_.outline);
    std::map<std::string_view, const OutlineNode*> added;
    for (const OutlineNode* node : new_variables) added.emplace(node->name, node);
    for (const OutlineNode* node : old_variables) {
      const auto found = added.find(node->name);
      const OutlineNode* other = found == added.end() ? nullptr : found->second;
      VariableDifference difference = {.label = node->name, .before = node->outputs.front(), .after = {}};
      if (other != nullptr) difference.after = other->outputs.front();
      if (other == nullptr || difference.before->type != difference.after->type ||
          difference.before->shape != difference.after->shape ||
          (compares_data && HasOtherData(*node, *other, difference)))
        result_.variables.push_back(std::move(difference));
      if (other != nullptr) added.erase(found);
    }
    for (const OutlineNode* node : new_variables) {
      if (added.contains(node->name))
        result_.variables.push_back({.label = node->name, .before = {}, .after = node->outputs.front()});
    }
  }

  bool HasOtherData(const OutlineNode& before, const OutlineNode& after, VariableDifference& difference) {
    const std::optional<TensorValue> old_data = DataOf(before_, before);
    const std::optional<TensorValue> new_data = DataOf(after_, after);
    if (!old_data || !new_data) {
      if (old_data || new_data) result_.without_data.push_back(before.name);
      return false;
    }
    if (old_data->type() != new_data->type() || old_data->shape() != new_data->shape()) return true;
    return CompareData(*old_data, *new_data, difference);
  }

  static std::optional<TensorValue> DataOf(const ComparedGraph& graph, const OutlineNode& node) {
    if (node.value) return node.value;
    return graph.read ? graph.read(node.name) : std::nullopt;
  }

  const ComparedGraph& before_;
  const ComparedGraph& after_;
  ModelDifference result_;
};

Json PortJson(const Port& port) {
  Json shape = nullptr;
  if (port.shape) {
    shape = Json::array();
    for (const int64_t extent : *port.shape) shape.push_back(extent < 0 ? Json(nullptr) : Json(extent));
  }
  return {{"name", port.name}, {"type", Name(port.type)}, {"shape", std::move(shape)}};
}

Json PairJson(const Port* before, const Port* after) {
  return {{"old", before == nullptr ? Json(nullptr) : PortJson(*before)},
          {"new", after == nullptr ? Json(nullptr) : PortJson(*after)}};
}

const Port* Pointer(const std::optional<Port>& port) {
  return port ? &*port : nullptr;
}

// Returns the changed input or output of a graph, or null.
const Port* InputOf(const GraphOutline& graph, std::optional<size_t> index) {
  return index ? &graph.nodes[graph.inputs[*index]].outputs.front() : nullptr;
}
const Port* OutputOf(const GraphOutline& graph, std::optional<size_t> index) {
  return index ? &graph.outputs[*index].port : nullptr;
}

// Adds the lines of an old and a new item.
void AddLines(std::string_view what, const Port* before, const Port* after, std::string& text) {
  if (before != nullptr) text += fmt::format("- {} {}\n", what, PortText(*before));
  if (after != nullptr) text += fmt::format("+ {} {}\n", what, PortText(*after));
}

}  // namespace

ModelDifference CompareGraphs(const ComparedGraph& before, const ComparedGraph& after, bool compares_data) {
  return GraphComparer(before, after).Compare(compares_data);
}

ComparedGraph GraphOf(driver::Compilation& compilation, bool is_lowered,
                      std::optional<uint64_t> random_weights) {
  ComparedGraph graph{.name = compilation.path(),
                      .outline = is_lowered ? OutlineOf(*compilation.lowered()) : OutlineOf(compilation)};
  if (is_lowered || compilation.format() != driver::ModelFormat::kNnef) return graph;
  const auto store = std::make_shared<driver::VariableStore>(*compilation.model(), compilation.graph(),
                                                             compilation.quantization().table, random_weights,
                                                             compilation.context());
  std::map<std::string, ir::NodeId> variables;
  for (const ir::NodeId id : compilation.graph().nodes()) {
    const ir::Node& node = compilation.graph().node(id);
    if (!node.Is(ir::OpRole::kVariable)) continue;
    const std::string& label = node.attribute("label").AsString();
    const bool has_data = random_weights || compilation.model()->HasVariable(label);
    if (has_data) variables.emplace(label, id);
  }
  graph.read = [store, variables, &compilation](const std::string& label) -> std::optional<TensorValue> {
    const auto found = variables.find(label);
    if (found == variables.end()) return std::nullopt;
    const ir::Node& node = compilation.graph().node(found->second);
    return store->Load(label, node.output().type, node.output().shape, node.origin());
  };
  return graph;
}

ComparedGraph GraphOf(const Model& model) {
  ComparedGraph graph{.name = model.state().path, .outline = OutlineOf(model)};
  graph.read = [model](const std::string& label) -> std::optional<TensorValue> {
    const Outcome<Tensor> tensor = model.ReadVariable(label);
    if (!tensor) return std::nullopt;
    return tensor->state().value;
  };
  return graph;
}

std::string DifferenceText(const ModelDifference& difference, const ComparedGraph& before,
                           const ComparedGraph& after) {
  std::string text;
  for (const ItemPair& pair : difference.inputs)
    AddLines("input", InputOf(before.outline, pair.before), InputOf(after.outline, pair.after), text);
  for (const ItemPair& pair : difference.outputs)
    AddLines("output", OutputOf(before.outline, pair.before), OutputOf(after.outline, pair.after), text);
  for (const ItemPair& pair : difference.operations) {
    if (pair.before) text += fmt::format("- {}\n", OperationText(before.outline, *pair.before));
    if (pair.after) text += fmt::format("+ {}\n", OperationText(after.outline, *pair.after));
  }
  for (const VariableDifference& variable : difference.variables) {
    const std::string what = fmt::format("variable '{}'", variable.label);
    if (variable.largest)
      text += fmt::format("! {} {}: data differ by up to {:.6g} in {} element{}\n", what,
                          PortText(*variable.after), *variable.largest, variable.num_different,
                          variable.num_different == 1 ? "" : "s");
    else
      AddLines(what, Pointer(variable.before), Pointer(variable.after), text);
  }
  // A changed extent of an input changes most tensors.
  constexpr size_t kMaxTensors = 20;
  for (size_t i = 0; i < std::min(kMaxTensors, difference.tensors.size()); ++i) {
    const auto& [pair, output] = difference.tensors[i];
    AddLines("tensor", &before.outline.nodes[*pair.before].outputs[static_cast<size_t>(output)],
             &after.outline.nodes[*pair.after].outputs[static_cast<size_t>(output)], text);
  }
  if (difference.tensors.size() > kMaxTensors)
    text += fmt::format("! {} more tensors have another type or shape\n",
                        difference.tensors.size() - kMaxTensors);
  return text;
}

OperationDetails DetailsOf(const ModelDifference& difference, const ComparedGraph& before,
                           const ComparedGraph& after, size_t old_node, size_t new_node) {
  const OutlineNode& old_operation = before.outline.nodes[old_node];
  const OutlineNode& new_operation = after.outline.nodes[new_node];
  OperationDetails details;
  std::map<std::string, OperationDetails::Change> attributes;
  for (const auto& [name, value] : AllAttributes(old_operation))
    attributes[name] = {.name = name, .before = value, .after = {}};
  for (const auto& [name, value] : AllAttributes(new_operation)) {
    attributes[name].name = name;
    attributes[name].after = value;
  }
  for (auto& [name, change] : attributes) {
    if (change.before != change.after) details.attributes.push_back(std::move(change));
  }
  const size_t num_inputs = std::max(old_operation.inputs.size(), new_operation.inputs.size());
  for (size_t i = 0; i < num_inputs; ++i) {
    const bool is_old = i < old_operation.inputs.size();
    const bool is_new = i < new_operation.inputs.size();
    if (is_old && is_new && difference.matching.ReadSame(old_operation.inputs[i], new_operation.inputs[i]))
      continue;
    details.inputs.push_back({.name = std::to_string(i),
                              .before = is_old ? InputText(before.outline, old_operation.inputs[i]) : "",
                              .after = is_new ? InputText(after.outline, new_operation.inputs[i]) : ""});
  }
  for (size_t i = 0; i < std::max(old_operation.bodies.size(), new_operation.bodies.size()); ++i) {
    const bool is_old = i < old_operation.bodies.size();
    const bool is_new = i < new_operation.bodies.size();
    // Only the bodies of the operations are left to compare.
    OutlineNode old_body;
    OutlineNode new_body;
    if (is_old) old_body.bodies.push_back(old_operation.bodies[i]);
    if (is_new) new_body.bodies.push_back(new_operation.bodies[i]);
    if (!IsSameOperation(old_body, new_body))
      details.bodies.push_back((is_new ? new_operation : old_operation).bodies[i].role);
  }
  return details;
}

Json DifferenceJson(const ModelDifference& difference, const ComparedGraph& before,
                    const ComparedGraph& after) {
  Json json = {{"old", before.name},          {"new", after.name},
               {"equal", difference.empty()}, {"inputs", Json::array()},
               {"outputs", Json::array()},    {"operations", Json::array()},
               {"variables", Json::array()},  {"tensors", Json::array()},
               {"renamed", Json::array()},    {"without_data", difference.without_data}};
  for (const ItemPair& pair : difference.inputs)
    json["inputs"].push_back(
        PairJson(InputOf(before.outline, pair.before), InputOf(after.outline, pair.after)));
  for (const ItemPair& pair : difference.outputs)
    json["outputs"].push_back(
        PairJson(OutputOf(before.outline, pair.before), OutputOf(after.outline, pair.after)));
  const auto operation = [](const GraphOutline& graph, std::optional<size_t> node) -> Json {
    if (!node) return nullptr;
    return {{"name", graph.nodes[*node].name},
            {"operation", graph.nodes[*node].type},
            {"text", OperationText(graph, *node)}};
  };
  const auto changes = [](const std::vector<OperationDetails::Change>& list, const char* key) {
    Json all = Json::array();
    for (const OperationDetails::Change& change : list)
      all.push_back({{key, change.name}, {"old", change.before}, {"new", change.after}});
    return all;
  };
  for (const ItemPair& pair : difference.operations) {
    Json& entry = json["operations"].emplace_back(Json{{"change", pair.before && pair.after ? "changed"
                                                                  : pair.before             ? "removed"
                                                                                            : "added"},
                                                       {"old", operation(before.outline, pair.before)},
                                                       {"new", operation(after.outline, pair.after)}});
    if (!pair.before || !pair.after) continue;
    const OperationDetails details = DetailsOf(difference, before, after, *pair.before, *pair.after);
    entry["attributes"] = changes(details.attributes, "name");
    entry["inputs"] = changes(details.inputs, "index");
    for (Json& input : entry["inputs"]) input["index"] = std::stoll(input["index"].get<std::string>());
    entry["bodies"] = details.bodies;
  }
  for (const VariableDifference& variable : difference.variables) {
    Json entry = {{"label", variable.label}};
    entry.update(PairJson(Pointer(variable.before), Pointer(variable.after)));
    if (variable.largest) {
      entry["largest"] = std::isfinite(*variable.largest) ? Json(*variable.largest) : Json("inf");
      entry["elements"] = variable.num_different;
    }
    json["variables"].push_back(std::move(entry));
  }
  for (const auto& [pair, output] : difference.tensors)
    json["tensors"].push_back(
        PairJson(&before.outline.nodes[*pair.before].outputs[static_cast<size_t>(output)],
                 &after.outline.nodes[*pair.after].outputs[static_cast<size_t>(output)]));
  for (const ItemPair& pair : difference.renamed)
    json["renamed"].push_back(
        {{"old", before.outline.nodes[*pair.before].name}, {"new", after.outline.nodes[*pair.after].name}});
  return json;
}

}  // namespace nnefc::api

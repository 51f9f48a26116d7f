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
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "tools/api/internals.h"
#include "tools/api/model.h"

namespace nnefc::api {
namespace {

using Json = nlohmann::ordered_json;
using Kind = OutlineNode::Kind;

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

using ReadData = std::function<std::optional<TensorValue>(const std::string& label)>;

class GraphComparer {
 public:
  GraphComparer(const ComparedGraph& before, const ComparedGraph& after, bool compares_data)
      : before_(before.outline),
        after_(after.outline),
        old_data_(before.read),
        new_data_(after.read),
        compares_data_(compares_data) {}

  // Compares bodies.
  GraphComparer(const OutlineBody& before, const OutlineBody& after, bool compares_data)
      : before_(before.graph), after_(after.graph), compares_data_(compares_data), is_body_(true) {}

  ModelDifference Compare() {
    result_.matching =
        MatchGraphs(before_, after_, is_body_ ? InputPairing::kByIndex : InputPairing::kByName);
    CompareInputs();
    CompareOutputs();
    CompareOperations();
    CompareVariables();
    return std::move(result_);
  }

 private:
  const OutlineNode& Old(size_t node) const { return before_.nodes[node]; }
  const OutlineNode& New(size_t node) const { return after_.nodes[node]; }

  // Compares inputs or outputs.
  bool IsSamePort(const Port& a, const Port& b) const {
    return (is_body_ || a.name == b.name) && a.type == b.type && a.shape == b.shape;
  }

  void CompareInputs() {
    const std::vector<size_t>& old_inputs = before_.inputs;
    const std::vector<size_t>& new_inputs = after_.inputs;
    for (size_t i = 0; i < std::max(old_inputs.size(), new_inputs.size()); ++i) {
      const ItemPair pair = PairAt(i, old_inputs.size(), new_inputs.size());
      if (pair.before && pair.after &&
          IsSamePort(Old(old_inputs[i]).outputs.front(), New(new_inputs[i]).outputs.front()))
        continue;
      result_.inputs.push_back(pair);
    }
  }

  void CompareOutputs() {
    const std::vector<GraphOutline::Result>& old_results = before_.outputs;
    const std::vector<GraphOutline::Result>& new_results = after_.outputs;
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
    std::vector<size_t> ranks(before_.nodes.size(), 0);
    std::vector<size_t> removed;  // in order
    for (size_t rank = 0; rank < before_.operations.size(); ++rank) {
      const size_t node = before_.operations[rank];
      ranks[node] = rank;
      if (!matching.new_of_old[node]) removed.push_back(node);
    }
    size_t num_listed = 0;
    for (const size_t node : after_.operations) {
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

  // Compares matched operations. Adds the differences of their bodies.
  bool IsChanged(size_t old_node, size_t new_node) {
    const GraphMatching& matching = result_.matching;
    if (matching.old_computations[old_node] == matching.new_computations[new_node]) return false;
    const OutlineNode& before = Old(old_node);
    const OutlineNode& after = New(new_node);
    if (HaveOtherBodies(old_node, new_node) || before.inputs.size() != after.inputs.size() ||
        !IsSameOperation(before, after))
      return true;
    for (size_t i = 0; i < before.inputs.size(); ++i) {
      if (!matching.ReadSame(before.inputs[i], after.inputs[i])) return true;
    }
    return false;
  }

  // Adds the differences between the bodies of matched operations. Returns false if there are none.
  bool HaveOtherBodies(size_t old_node, size_t new_node) {
    const std::vector<OutlineBody>& before = Old(old_node).bodies;
    const std::vector<OutlineBody>& after = New(new_node).bodies;
    bool differ = before.size() != after.size();
    for (size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
      if (IsSameBody(before[i], after[i])) continue;
      BodyDifference body = {.old_node = old_node, .new_node = new_node, .index = i, .difference = {}};
      body.difference = GraphComparer(before[i], after[i], compares_data_).Compare();
      // Otherwise only data that are not compared differ.
      if (!compares_data_ && body.difference.empty() && before[i].role == after[i].role &&
          before[i].connections == after[i].connections)
        continue;
      differ = true;
      result_.bodies.push_back(std::move(body));
    }
    return differ;
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

  // Returns the first variable of each label, or all those of a body, in order.
  std::vector<size_t> VariablesOf(const GraphOutline& graph) const {
    std::vector<size_t> variables;
    std::set<std::string_view> labels;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const OutlineNode& node = graph.nodes[i];
      if (node.kind == Kind::kVariable && (is_body_ || labels.insert(node.name).second))
        variables.push_back(i);
    }
    return variables;
  }

  void CompareVariables() {
    const std::vector<size_t> new_variables = VariablesOf(after_);
    std::map<std::string_view, size_t> labels;
    if (!is_body_) {
      for (const size_t node : new_variables) labels.emplace(New(node).name, node);
    }
    std::set<size_t> compared;
    for (const size_t node : VariablesOf(before_)) {
      std::optional<size_t> other = result_.matching.new_of_old[node];
      if (!is_body_) {
        const auto found = labels.find(Old(node).name);
        other = found == labels.end() ? std::nullopt : std::optional(found->second);
      }
      CompareVariable(Old(node), other ? &New(*other) : nullptr);
      if (other) compared.insert(*other);
    }
    for (const size_t node : new_variables) {
      if (!compared.contains(node))
        result_.variables.push_back(
            {.label = New(node).name, .before = {}, .after = New(node).outputs.front()});
    }
  }

  void CompareVariable(const OutlineNode& before, const OutlineNode* after) {
    VariableDifference difference = {.label = before.name, .before = before.outputs.front(), .after = {}};
    if (after != nullptr) difference.after = after->outputs.front();
    if (after == nullptr || difference.before->type != difference.after->type ||
        difference.before->shape != difference.after->shape ||
        (compares_data_ && HasOtherData(before, *after, difference)))
      result_.variables.push_back(std::move(difference));
  }

  bool HasOtherData(const OutlineNode& before, const OutlineNode& after, VariableDifference& difference) {
    const std::optional<TensorValue> old_data = DataOf(old_data_, before);
    const std::optional<TensorValue> new_data = DataOf(new_data_, after);
    if (!old_data || !new_data) {
      if (old_data || new_data) result_.without_data.push_back(before.name);
      return false;
    }
    if (old_data->type() != new_data->type() || old_data->shape() != new_data->shape()) return true;
    return CompareData(*old_data, *new_data, difference);
  }

  static std::optional<TensorValue> DataOf(const ReadData& read, const OutlineNode& node) {
    if (node.value) return node.value;
    return read ? read(node.name) : std::nullopt;
  }

  const GraphOutline& before_;
  const GraphOutline& after_;
  ReadData old_data_ = nullptr;  // null: all data are in the outline
  ReadData new_data_ = nullptr;
  bool compares_data_;
  bool is_body_ = false;
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
  return GraphComparer(before, after, compares_data).Compare();
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

namespace {

const OutlineBody& OldBody(const GraphOutline& graph, const BodyDifference& body) {
  return graph.nodes[body.old_node].bodies[body.index];
}
const OutlineBody& NewBody(const GraphOutline& graph, const BodyDifference& body) {
  return graph.nodes[body.new_node].bodies[body.index];
}

std::string TextOf(const ModelDifference& difference, const GraphOutline& before, const GraphOutline& after);

// Returns the differences of the bodies of an operation, below a line with the role and the operation.
std::string BodiesText(const ModelDifference& difference, const GraphOutline& before,
                       const GraphOutline& after, const ItemPair& pair) {
  std::string text;
  for (const BodyDifference& body : difference.bodies) {
    if (body.new_node != pair.after) continue;
    const OutlineBody& old_body = OldBody(before, body);
    const OutlineBody& new_body = NewBody(after, body);
    text += fmt::format("! {} of {}:\n", new_body.role, after.nodes[body.new_node].name);
    if (old_body.connections != new_body.connections)
      text +=
          fmt::format("  - connections {}\n  + connections {}\n", old_body.connections, new_body.connections);
    llvm::SmallVector<llvm::StringRef> lines;
    const std::string differences = TextOf(body.difference, old_body.graph, new_body.graph);
    llvm::StringRef(differences).split(lines, '\n', -1, /*KeepEmpty=*/false);
    for (const llvm::StringRef line : lines) text += fmt::format("  {}\n", std::string_view(line));
  }
  return text;
}

std::string TextOf(const ModelDifference& difference, const GraphOutline& before, const GraphOutline& after) {
  std::string text;
  for (const ItemPair& pair : difference.inputs)
    AddLines("input", InputOf(before, pair.before), InputOf(after, pair.after), text);
  for (const ItemPair& pair : difference.outputs)
    AddLines("output", OutputOf(before, pair.before), OutputOf(after, pair.after), text);
  for (const ItemPair& pair : difference.operations) {
    if (pair.before) text += fmt::format("- {}\n", OperationText(before, *pair.before));
    if (pair.after) text += fmt::format("+ {}\n", OperationText(after, *pair.after));
    if (pair.before && pair.after) text += BodiesText(difference, before, after, pair);
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
    AddLines("tensor", &before.nodes[*pair.before].outputs[static_cast<size_t>(output)],
             &after.nodes[*pair.after].outputs[static_cast<size_t>(output)], text);
  }
  if (difference.tensors.size() > kMaxTensors)
    text += fmt::format("! {} more tensors have another type or shape\n",
                        difference.tensors.size() - kMaxTensors);
  return text;
}

}  // namespace

std::string DifferenceText(const ModelDifference& difference, const ComparedGraph& before,
                           const ComparedGraph& after) {
  return TextOf(difference, before.outline, after.outline);
}

OperationDetails DetailsOf(const ModelDifference& difference, const GraphOutline& before,
                           const GraphOutline& after, size_t old_node, size_t new_node) {
  const OutlineNode& old_operation = before.nodes[old_node];
  const OutlineNode& new_operation = after.nodes[new_node];
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
                              .before = is_old ? InputText(before, old_operation.inputs[i]) : "",
                              .after = is_new ? InputText(after, new_operation.inputs[i]) : ""});
  }
  for (const BodyDifference& body : difference.bodies) {
    if (body.new_node != new_node) continue;
    const OutlineBody& old_body = OldBody(before, body);
    const OutlineBody& new_body = NewBody(after, body);
    details.bodies.push_back({.role = new_body.role, .difference = &body});
    if (old_body.connections != new_body.connections)
      details.connections.push_back(
          {.name = new_body.role, .before = old_body.connections, .after = new_body.connections});
  }
  const size_t num_both = std::min(old_operation.bodies.size(), new_operation.bodies.size());
  for (const OutlineNode* operation : {&old_operation, &new_operation}) {
    for (size_t i = num_both; i < operation->bodies.size(); ++i)
      details.bodies.push_back({.role = operation->bodies[i].role, .difference = nullptr});
  }
  return details;
}

namespace {

Json ListsJson(const ModelDifference& difference, const GraphOutline& before, const GraphOutline& after);

Json ChangesJson(const std::vector<OperationDetails::Change>& list, const char* key) {
  Json all = Json::array();
  for (const OperationDetails::Change& change : list)
    all.push_back({{key, change.name}, {"old", change.before}, {"new", change.after}});
  return all;
}

Json BodiesJson(const OperationDetails& details, const GraphOutline& before, const GraphOutline& after) {
  Json all = Json::array();
  for (const auto& [role, body] : details.bodies) {
    Json& entry = all.emplace_back(Json{{"role", role}});
    if (body == nullptr) continue;
    const OutlineBody& old_body = OldBody(before, *body);
    const OutlineBody& new_body = NewBody(after, *body);
    if (old_body.connections != new_body.connections)
      entry["connections"] = {{"old", old_body.connections}, {"new", new_body.connections}};
    entry.update(ListsJson(body->difference, old_body.graph, new_body.graph));
  }
  return all;
}

// Returns the keys of a difference from "inputs" on.
Json ListsJson(const ModelDifference& difference, const GraphOutline& before, const GraphOutline& after) {
  Json json = {{"inputs", Json::array()},
               {"outputs", Json::array()},
               {"operations", Json::array()},
               {"variables", Json::array()},
               {"tensors", Json::array()},
               {"renamed", Json::array()},
               {"without_data", difference.without_data}};
  for (const ItemPair& pair : difference.inputs)
    json["inputs"].push_back(PairJson(InputOf(before, pair.before), InputOf(after, pair.after)));
  for (const ItemPair& pair : difference.outputs)
    json["outputs"].push_back(PairJson(OutputOf(before, pair.before), OutputOf(after, pair.after)));
  const auto operation = [](const GraphOutline& graph, std::optional<size_t> node) -> Json {
    if (!node) return nullptr;
    return {{"name", graph.nodes[*node].name},
            {"operation", graph.nodes[*node].type},
            {"text", OperationText(graph, *node)}};
  };
  for (const ItemPair& pair : difference.operations) {
    Json& entry = json["operations"].emplace_back(Json{{"change", pair.before && pair.after ? "changed"
                                                                  : pair.before             ? "removed"
                                                                                            : "added"},
                                                       {"old", operation(before, pair.before)},
                                                       {"new", operation(after, pair.after)}});
    if (!pair.before || !pair.after) continue;
    const OperationDetails details = DetailsOf(difference, before, after, *pair.before, *pair.after);
    entry["attributes"] = ChangesJson(details.attributes, "name");
    entry["inputs"] = ChangesJson(details.inputs, "index");
    for (Json& input : entry["inputs"]) input["index"] = std::stoll(input["index"].get<std::string>());
    entry["bodies"] = BodiesJson(details, before, after);
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
    json["tensors"].push_back(PairJson(&before.nodes[*pair.before].outputs[static_cast<size_t>(output)],
                                       &after.nodes[*pair.after].outputs[static_cast<size_t>(output)]));
  for (const ItemPair& pair : difference.renamed)
    json["renamed"].push_back(
        {{"old", before.nodes[*pair.before].name}, {"new", after.nodes[*pair.after].name}});
  return json;
}

}  // namespace

Json DifferenceJson(const ModelDifference& difference, const ComparedGraph& before,
                    const ComparedGraph& after) {
  Json json = {{"old", before.name}, {"new", after.name}, {"equal", difference.empty()}};
  json.update(ListsJson(difference, before.outline, after.outline));
  return json;
}

}  // namespace nnefc::api

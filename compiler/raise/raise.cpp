// The entry point of raising: converts a graph of OpenVINO operations to ratified NNEF operations, node by
// node.

#include "compiler/raise/raise.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/ir/ops/opset/control_flow/unrolled_size.h"
#include "compiler/raise/absorb.h"
#include "compiler/raise/bodies.h"
#include "compiler/raise/node_raising.h"
#include "compiler/raise/opset_forms.h"
#include "compiler/raise/table.h"
#include "fmt/ranges.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::raise {

namespace {

using ir::NodeId;

const std::vector<RaiseEntry>& Entries() {
  static const std::vector<RaiseEntry> entries = [] {
    std::vector<RaiseEntry> all;
    AppendFamilies(all);
    return all;
  }();
  return entries;
}

}  // namespace

const RaiseEntry* FindRaising(ir::OpId op) {
  static const ir::OpTable<RaiseEntry> table = [] {
    ir::OpTable<RaiseEntry> made(ir::StandardOps(), ir::kOpsets, {});
    for (const RaiseEntry& entry : Entries())
      made.Add(ir::StandardOps(), ir::kOpsets, {{entry.operation, entry}});
    return made;
  }();
  return table.Find(op);
}

std::string_view FindEquivalent(ir::OpId op) {
  static const ir::OpTable<std::string_view> table = [] {
    const ir::OpRegistry& ops = ir::StandardOps();
    ir::OpTable<std::string_view> made(ops, ir::kOpsets, {});
    for (size_t i = 0; i < ops.size(); ++i) {
      const ir::OpInfo& info = ops.Info(ir::OpId(static_cast<int32_t>(i)));
      if (!info.equivalent.empty()) made.Add(ops, ir::kOpsets, {{info.equivalent, info.name}});
    }
    return made;
  }();
  const std::string_view* found = table.Find(op);
  return found == nullptr ? std::string_view() : *found;
}

std::vector<std::string_view> RaisedOperations() {
  std::vector<std::string_view> names;
  for (const RaiseEntry& entry : Entries()) {
    if (!entry.is_of_tract) names.push_back(entry.operation);
  }
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

std::string_view TargetText(Target target) {
  switch (target) {
    case Target::kRatified:
      return "in the ratified dialect";
    case Target::kTract:
      return "for the target tract";
    case Target::kNnefc:
      break;
  }
  return "for the target nnefc";
}

// The targets and their names on the command line.
constexpr std::pair<Target, std::string_view> kTargets[] = {
    {Target::kRatified, "ratified"}, {Target::kTract, "tract"}, {Target::kNnefc, "nnefc"}};

bool IsInterface(const ir::Node& node) {
  return node.Is(ir::OpRole::kParameter) || node.Is(ir::OpRole::kResult) || node.Is(ir::OpRole::kConst);
}

// Declines with the limits of unrolling.
[[noreturn]] void DeclineLoop(NodeRaising& raising) {
  const ir::Graph& source = raising.source();
  const ir::Node& loop = raising.node();
  const auto iterations = ir::ops::opset::KnownIterations(source, loop);
  if (!iterations) raising.Decline("the number of its iterations is unknown");
  const bool is_small = ir::ops::opset::UnrolledSize(source, loop, kMaxUnrolledNodes).has_value();
  if (!raising.state().options.unrolls && is_small)
    raising.Decline("NNEF has no loops; `--unroll` writes its {} iterations as standard operations",
                    *iterations);
  raising.Decline(
      "NNEF has no loops, and `--unroll` writes those without state whose iterations are at most {} "
      "operations "
      "in all",
      kMaxUnrolledNodes);
}

// Raises the nodes of one graph.
class Raiser {
 public:
  Raiser(const ir::Graph& source, llvm::ArrayRef<NodeId> order, const RaiseOptions& options, Context& context,
         std::string_view name, NodeRaising* outer = nullptr)
      : state_(source, order, options, context, name, outer),
        order_(order),
        live_(source.node_bound(), false) {}

  std::optional<RaisedGraph> Raise();
  std::optional<RaisedBody> RaiseAsBody(llvm::ArrayRef<RaisedParameter> parameters,
                                        llvm::ArrayRef<RaisedResult> results);
  // Raises for another target only to find the nodes without a form; returns nothing if shapes are unknown.
  std::optional<std::set<int32_t>> FindFormless();

 private:
  // Raises the inputs, the nodes and the results; returns false if the shapes are unknown.
  bool RaiseNodes();
  void FindLiveNodes();
  // Reports inputs with unknown extents, and layers whose shapes depend on data.
  [[nodiscard]] bool HasKnownShapes() const;
  void ReportNoInputs();
  void RaiseParameters();
  void AddBodyParameters(llvm::ArrayRef<RaisedParameter> parameters);
  // Adds a result of a body with the element type of the source. A parameter and a value with a name are
  // copied.
  void AddBodyResult(const RaisedResult& result);
  OutputPort BodyResult(NodeRaising& raising, const RaisedResult& result);
  void RaiseNode(NodeId id);
  void RaiseComputation(NodeRaising& raising);
  // Raises the node to standard operations.
  void RaiseToStandard(NodeRaising& raising);
  // True if standard operations may compute the node: its types are those of NNEF, and the shapes are known.
  [[nodiscard]] bool MayBeStandard(const NodeRaising& raising) const;
  void CopyNode(NodeRaising& raising);
  // Adds a result for each of the source. A tensor has one name, so that further results are copies.
  void RaiseResults();
  void NameNodes();
  void ReportNoForm(const ir::Node& node, const std::string& reason);
  // Returns the end of a message that names the other targets with a form of the node.
  std::string Advice(const ir::Node& node);

  RaiseState state_;
  llvm::ArrayRef<NodeId> order_;
  std::vector<bool> live_;  // index: node of the source
  bool is_trial_ = false;
  // The nodes of the source without a form, by the other targets; found with the first that is reported.
  std::optional<std::map<Target, std::set<int32_t>>> formless_;
};

void Raiser::FindLiveNodes() {
  const ir::Graph& source = state_.source;
  std::vector<NodeId> open(source.results().begin(), source.results().end());
  open.insert(open.end(), source.sinks().begin(), source.sinks().end());
  for (NodeId id : open) live_[static_cast<size_t>(id.index)] = true;
  while (!open.empty()) {
    const ir::Node& node = source.node(open.back());
    open.pop_back();
    for (OutputPort port : node.inputs()) {
      const auto index = static_cast<size_t>(port.node.index);
      if (live_[index] || state_.constants.Find(port) != nullptr) continue;
      live_[index] = true;
      open.push_back(port.node);
    }
  }
}

bool Raiser::HasKnownShapes() const {
  Emitter& emitter = state_.context.emitter;
  const ir::Graph& source = state_.source;
  bool known = true;
  const bool is_strict = state_.options.target != Target::kNnefc;
  for (NodeId id : source.parameters()) {
    const ir::Node& node = source.node(id);
    if (node.output().shape.known() || (!is_strict && node.output().shape.rank_known())) continue;
    known = false;
    emitter.Emit(kOpenExtent, node.origin().range,
                 "the input `{}` has the shape {}, and NNEF needs every extent; set them by `--input-shape "
                 "{}=..`",
                 node.name(), ir::ToString(node.output().shape), node.name());
  }
  for (size_t i = 0; known && is_strict && i < order_.size(); ++i) {
    const ir::Node& node = source.node(order_[i]);
    if (!live_[static_cast<size_t>(node.id().index)]) continue;
    for (const ir::Output& output : node.outputs()) {
      if (output.shape.known()) continue;
      known = false;
      emitter.Emit(kOpenExtent, node.origin().range,
                   "the shape of the result of `{}`, the layer `{}`, depends on data: {}; NNEF needs every "
                   "extent",
                   node.type(), node.name(), ir::ToString(output.shape));
      break;
    }
  }
  return known;
}

void Raiser::RaiseParameters() {
  for (NodeId id : state_.source.parameters()) {
    const ir::Node& node = state_.source.node(id);
    const bool is_strict = state_.options.target != Target::kNnefc;
    const ElementType own = node.output().type;
    const bool is_held = is_strict || (own != ElementType::kU64 && own != ElementType::kString);
    const std::string_view type = is_held ? DataTypeName(is_strict ? own : NnefTypeOf(own)) : "";
    NodeRaising raising(state_, id);
    if (type.empty()) {
      ReportNoForm(node, fmt::format("its type is {}, and NNEF has f32 scalars, integers and logicals",
                                     Name(node.output().type)));
    } else {
      try {
        const ir::PartialShape& open = node.output().shape;
        const auto extents = open.extents();
        const Attribute shape =
            extents ? Attribute(Integers(extents->begin(), extents->end())) : Attribute(open);
        const OutputPort port = raising.Add("external", {}, Attributes({{"shape", shape}, {"dtype", type}}));
        state_.target.AddToParameters(port.node);
        state_.wanted[{port.node.index, 0}] = node.name();
        raising.SetOutput(port);
      } catch (const Declined& declined) {
        ReportNoForm(node, declined.reason);
      }
    }
    raising.Finish();
  }
}

void Raiser::ReportNoForm(const ir::Node& node, const std::string& reason) {
  state_.failed = true;
  state_.formless.insert(node.id().index);
  if (is_trial_) return;
  state_.context.emitter.Emit(kNoForm, node.origin().range, "`{}`, the layer `{}`, has no form {}: {}{}",
                              node.type(), node.name(), TargetText(state_.options.target), reason,
                              Advice(node));
}

// A graph of the standard has at least one input (3.2.1).
void Raiser::ReportNoInputs() {
  state_.failed = true;
  if (is_trial_) return;
  state_.context.emitter.Emit(
      kNoForm, {},
      "the graph `{}` has no form {}: it has no inputs, and the standard requires one; `--target "
      "tract` or `--target nnefc` writes it",
      state_.source.name(), TargetText(state_.options.target));
}

std::string Raiser::Advice(const ir::Node& node) {
  if (state_.options.target == Target::kNnefc) return "";  // it has the forms of all targets
  if (!formless_) {
    formless_.emplace();
    for (const auto& [target, name] : kTargets) {
      if (target == state_.options.target) continue;
      RaiseOptions options = state_.options;
      options.target = target;
      Context context(state_.context, /*error_limit=*/1);
      if (auto found = Raiser(state_.source, order_, options, context, "trial").FindFormless())
        formless_->emplace(target, std::move(*found));
    }
  }
  std::vector<std::string> options;
  for (const auto& [target, name] : kTargets) {
    const auto found = formless_->find(target);
    if (found != formless_->end() && !found->second.contains(node.id().index))
      options.push_back(fmt::format("`--target {}`", name));
  }
  return options.empty() ? "" : fmt::format("; {} writes it", fmt::join(options, " or "));
}

// Lowering preserves operations of NNEF that OpenVINO has not.
void Raiser::CopyNode(NodeRaising& raising) {
  const ir::Node& node = raising.node();
  if (node.info().section.empty() || !node.info().section.starts_with("R "))
    raising.Decline("it is not an operation of the specification");
  std::vector<OutputPort> inputs;
  inputs.reserve(static_cast<size_t>(node.num_inputs()));
  for (int32_t i = 0; i < node.num_inputs(); ++i) inputs.push_back(raising.input(i));
  const ir::NodeId copy =
      raising.AddNode({ir::kNnefSet, node.type()}, inputs, node.attributes(), node.num_outputs());
  for (int32_t i = 0; i < node.num_outputs(); ++i) raising.SetOutput(i, {copy, i});
}

bool Raiser::MayBeStandard(const NodeRaising& raising) const {
  const ir::Node& node = raising.node();
  if (!node.bodies().empty()) return false;
  const auto is_held = [](const ir::Output& output) {
    return output.shape.known() && !DataTypeName(output.type).empty();
  };
  if (!llvm::all_of(node.outputs(), is_held)) return false;
  return llvm::all_of(node.inputs(), [&](OutputPort port) {
    if (!is_held(state_.source.output(port))) return false;
    if (state_.constants.Find(port) != nullptr) return true;
    // Results of NNEFC_opset in other types remain with its operations.
    const OutputPort raised =
        state_.ports[static_cast<size_t>(port.node.index)][static_cast<size_t>(port.index)];
    const ElementType type = state_.target.output(raised).type;
    return type == NnefTypeOf(type);
  });
}

void Raiser::RaiseComputation(NodeRaising& raising) {
  if (state_.options.target != Target::kNnefc) return RaiseToStandard(raising);
  const ir::NodeId id = raising.node().id();
  if (MayBeStandard(raising)) {
    try {
      return RaiseToStandard(raising);
    } catch (const Declined&) {
      if (!HasOpsetForm(raising.node())) throw;
      state_.ports[static_cast<size_t>(id.index)].clear();
    }
  }
  state_.absorbed.erase(id.index);  // operations of NNEFC_opset have no biases
  RaiseToOpset(raising);
}

void Raiser::RaiseToStandard(NodeRaising& raising) {
  const ir::Node& node = raising.node();
  for (int32_t i = 0; i < node.num_outputs(); ++i) {
    const ElementType type = node.output(i).type;
    if (!DataTypeName(type).empty()) continue;
    // An input of the same type is reported where the type appears first.
    const bool is_reported = llvm::any_of(node.inputs(), [&](OutputPort port) {
      return state_.source.output(port).type == type && state_.constants.Find(port) == nullptr;
    });
    if (is_reported) return;
    raising.Decline("its result has the type {}, and NNEF has f32 scalars, integers and logicals",
                    Name(type));
  }
  const RaiseEntry* entry = FindRaising(node.op());
  if (entry != nullptr && (!entry->is_of_tract || state_.options.target == Target::kTract))
    return entry->raise(raising);
  if (ir::ops::opset::IsLoop(node)) DeclineLoop(raising);
  if (node.set() != ir::kNnefSet) raising.Decline("nnefc has no combination of standard operations for it");
  CopyNode(raising);
}

void Raiser::RaiseNode(NodeId id) {
  const ir::Node& node = state_.source.node(id);
  const auto& ports = state_.ports[static_cast<size_t>(id.index)];
  if (!live_[static_cast<size_t>(id.index)] || IsInterface(node) || !ports.empty()) return;
  NodeRaising raising(state_, id);
  try {
    RaiseComputation(raising);
  } catch (const Declined& declined) {
    ReportNoForm(node, declined.reason);
  }
  raising.Finish();
}

void Raiser::RaiseResults() {
  std::set<std::pair<int32_t, int32_t>> named;
  for (NodeId id : state_.source.results()) {
    const ir::Node& result = state_.source.node(id);
    NodeRaising raising(state_, id);
    OutputPort port;
    try {
      const TensorValue* value = raising.Value(0);
      const bool is_unusual =
          value != nullptr && (value->volume() == 0 || DataTypeName(value->type()).empty());
      port = is_unusual && state_.options.target == Target::kNnefc
                 ? raising.Converted(raising.ExactInput(0), NnefTypeOf(value->type()))
                 : raising.input(0);
      const ir::Node& producer = state_.target.node(port.node);
      const bool has_name = producer.Is(ir::OpRole::kExternal) || producer.Is(ir::OpRole::kVariable) ||
                            producer.Is(ir::OpRole::kConstant) ||
                            named.contains({port.node.index, port.index});
      if (has_name) {
        const ElementType type = producer.output(port.index).type;
        port = raising.Add("copy", port, Attributes({{"dtype", DataTypeName(type)}}));
      }
    } catch (const Declined& declined) {
      ReportNoForm(result, declined.reason);
      continue;
    }
    named.insert({port.node.index, port.index});
    state_.wanted[{port.node.index, port.index}] = result.name();
    ir::AddResult(state_.target, result.name(), port, result.origin());
  }
}

// Names of inputs and results come first, then those of the source's tensors, then those of helpers.
void Raiser::NameNodes() {
  UniqueNames names;
  std::map<std::pair<int32_t, int32_t>, std::string> given;
  const auto name_port = [&](OutputPort port, const std::string& wanted) {
    auto [entry, added] = given.try_emplace({port.node.index, port.index});
    if (!added) return;
    std::string name = Identifier(wanted);
    entry->second = names.Take(name);
  };
  const auto wanted_of = [&](OutputPort port) { return state_.wanted.at({port.node.index, port.index}); };
  for (NodeId id : state_.target.parameters()) name_port({id, 0}, wanted_of({id, 0}));
  for (NodeId id : state_.target.results()) {
    const OutputPort port = state_.target.node(id).input(0);
    name_port(port, wanted_of(port));
  }
  for (NodeId id : state_.target.nodes()) {
    const ir::Node& node = state_.target.node(id);
    for (int32_t i = 0; i < node.num_outputs(); ++i) {
      const auto found = state_.wanted.find({id.index, i});
      if (found != state_.wanted.end()) name_port({id, i}, found->second);
    }
  }
  for (NodeId id : state_.target.nodes()) {
    const ir::Node& node = state_.target.node(id);
    const std::string& hint = state_.hints[static_cast<size_t>(id.index)];
    if (hint.empty()) continue;  // a literal, or a Result
    for (int32_t i = 0; i < node.num_outputs(); ++i) {
      name_port({id, i}, i == 0 ? hint : fmt::format("{}_{}", hint, i));
      const std::string& name = given.at({id.index, i});
      state_.target.SetOutputNames({id, i}, {name});
      if (i == 0) state_.target.SetName(id, name);
    }
  }
}

void Raiser::AddBodyParameters(llvm::ArrayRef<RaisedParameter> parameters) {
  const ir::Graph& source = state_.source;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const RaisedParameter& parameter = parameters[i];
    const bool is_used = parameter.source >= 0;
    const ir::NodeId own =
        is_used ? source.parameters()[static_cast<size_t>(parameter.source)] : ir::NodeId();
    const std::string name = is_used ? source.node(own).name() : fmt::format("unused_{}", i);
    const ir::NodeId id = ir::AddParameter(state_.target, name, parameter.type, parameter.shape);
    state_.hints.resize(state_.target.node_bound());
    state_.hints[static_cast<size_t>(id.index)] = name;
    state_.wanted[{id.index, 0}] = name;
    if (!is_used) continue;
    NodeRaising raising(state_, own);
    OutputPort port{id, 0};
    if (parameter.is_iteration && raising.output_rank() == 0) port = raising.Squeeze(port, {0}, "number");
    state_.ports[static_cast<size_t>(own.index)] = {port};
  }
}

OutputPort Raiser::BodyResult(NodeRaising& raising, const RaisedResult& result) {
  switch (result.kind) {
    case RaisedResult::Kind::kOfSource:
      return raising.ExactInput(0);
    case RaisedResult::Kind::kCondition: {
      const OutputPort port = raising.ExactInput(0);
      const ir::PartialShape& shape = state_.target.output(port).shape;
      if (!shape.rank_known()) raising.Decline("the rank of a condition is unknown");
      return shape.rank() == 1 ? port : raising.Reshape(port, {1}, "condition");
    }
    case RaisedResult::Kind::kParameter:
      break;
    case RaisedResult::Kind::kNextNumber: {
      const OutputPort number{state_.target.parameters()[static_cast<size_t>(result.index)], 0};
      const OutputPort step = raising.Constant(TensorValue::FromInts({1}, {1}), "step");
      return {raising.AddNode({"opset1", "Add"}, {number, step}, Attributes({{"auto_broadcast", "numpy"}}), 1,
                              "next"),
              0};
    }
  }
  return {state_.target.parameters()[static_cast<size_t>(result.index)], 0};
}

void Raiser::AddBodyResult(const RaisedResult& result) {
  const bool is_of_source =
      result.kind == RaisedResult::Kind::kOfSource || result.kind == RaisedResult::Kind::kCondition;
  const ir::Node& origin =
      state_.source.node(state_.source.results()[is_of_source ? static_cast<size_t>(result.index) : 0]);
  NodeRaising raising(state_, origin.id());
  try {
    OutputPort port = BodyResult(raising, result);
    const ir::Node& producer = state_.target.node(port.node);
    const ElementType type = producer.output(port.index).type;
    const bool is_named = producer.Is(ir::OpRole::kParameter) ||
                          llvm::any_of(producer.uses(port.index), [&](ir::InputPort use) {
                            return state_.target.node(use.node).Is(ir::OpRole::kResult);
                          });
    if (is_named && type == NnefTypeOf(type)) {
      port = raising.Add("copy", port, Attributes({{"dtype", DataTypeName(type)}}));
    } else if (is_named) {
      port = {raising.AddNode({"opset1", "Convert"}, port, Attributes({{"destination_type", type}}), 1), 0};
    }
    const std::string& name = is_of_source ? origin.name() : "next";
    state_.wanted[{port.node.index, port.index}] = name;
    ir::AddResult(state_.target, name, port, origin.origin());
  } catch (const Declined& declined) {
    ReportNoForm(origin, declined.reason);
  }
}

std::optional<RaisedBody> Raiser::RaiseAsBody(llvm::ArrayRef<RaisedParameter> parameters,
                                              llvm::ArrayRef<RaisedResult> results) {
  FindLiveNodes();
  AddBodyParameters(parameters);
  FindAbsorbed(state_, order_, live_);
  for (NodeId id : order_) RaiseNode(id);
  if (state_.failed) return std::nullopt;
  for (const RaisedResult& result : results) AddBodyResult(result);
  if (state_.failed) return std::nullopt;
  state_.target.EraseDeadNodes();
  state_.hints.resize(state_.target.node_bound());
  NameNodes();
  return RaisedBody{.graph = std::make_unique<ir::Graph>(std::move(state_.target)),
                    .captured = std::move(state_.captured)};
}

bool Raiser::RaiseNodes() {
  FindLiveNodes();
  if (!HasKnownShapes()) return false;
  if (state_.source.parameters().empty() && state_.options.target == Target::kRatified) ReportNoInputs();
  RaiseParameters();
  FindAbsorbed(state_, order_, live_);
  for (NodeId id : order_) RaiseNode(id);
  RaiseResults();
  return true;
}

std::optional<std::set<int32_t>> Raiser::FindFormless() {
  is_trial_ = true;
  if (!RaiseNodes()) return std::nullopt;
  return std::move(state_.formless);
}

std::optional<RaisedGraph> Raiser::Raise() {
  if (!RaiseNodes() || state_.failed) return std::nullopt;
  state_.target.EraseDeadNodes();
  state_.hints.resize(state_.target.node_bound());
  NameNodes();
  RaisedGraph raised;
  for (const auto& [port, wanted] : state_.wanted) {
    if (!state_.target.Contains(NodeId(port.first))) continue;
    const auto& names = state_.target.node(NodeId(port.first)).output(port.second).names;
    if (!names.empty()) raised.names.emplace_back(wanted, names.front());
  }
  for (NodeId id : state_.target.nodes()) {
    const ir::Node& node = state_.target.node(id);
    if (!node.Is(ir::OpRole::kVariable)) continue;
    const std::string& label = node.String("label");
    raised.data.emplace(label, state_.data.at(label));
  }
  raised.graph = std::make_unique<ir::Graph>(std::move(state_.target));
  return raised;
}

}  // namespace

bool IsRepetition(const ir::Graph& graph, const ir::Node& node) {
  int64_t elements = 0;
  for (OutputPort port : node.inputs()) elements += graph.output(port).shape.volume().value_or(0);
  return node.num_inputs() > 0 && node.num_outputs() == 1 && !IsInteger(node.output().type) &&
         node.output().shape.volume().value_or(0) > elements;
}

std::optional<Target> ParseTarget(std::string_view name) {
  for (const auto& [target, known] : kTargets) {
    if (name == known) return target;
  }
  return std::nullopt;
}

std::optional<RaisedGraph> RaiseGraph(const ir::Graph& source, const RaiseOptions& options,
                                      Context& context) {
  const std::optional<std::vector<ir::NodeId>> order = ir::TopologicalOrder(source);
  NNEFC_CHECK(order.has_value() && options.evaluate != nullptr);
  return raise::Raiser(source, *order, options, context, source.name().empty() ? "net" : source.name())
      .Raise();
}

std::optional<RaisedBody> RaiseBody(NodeRaising& n, const ir::Body& body,
                                    llvm::ArrayRef<RaisedParameter> parameters,
                                    llvm::ArrayRef<RaisedResult> results) {
  const std::optional<std::vector<ir::NodeId>> order = ir::TopologicalOrder(*body.graph);
  NNEFC_CHECK(order.has_value());
  RaiseState& state = n.state();
  const std::string name = fmt::format("{}_{}", n.node().name(), body.role);
  auto raised = raise::Raiser(*body.graph, *order, state.options, state.context, name, &n)
                    .RaiseAsBody(parameters, results);
  if (raised) return raised;
  state.failed = true;
  state.formless.insert(n.node().id().index);
  return std::nullopt;
}

}  // namespace nnefc::raise

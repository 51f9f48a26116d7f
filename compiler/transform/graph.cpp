// The graph interface of transformations: nodes, ports and connections.

#include "compiler/transform/graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/algorithms/inline_body.h"
#include "compiler/support/diagnostics/diagnostics.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform {
namespace {

std::string Described(const ir::Node& node) {
  return fmt::format("`{}` ({}.{})", node.name(), node.set(), node.type());
}

ir::OpId FindOperation(const ir::OpRegistry& registry, std::string_view operation) {
  const size_t dot = operation.find('.');
  ir::OpId op;
  if (dot != std::string_view::npos) {
    op = registry.Find(operation.substr(0, dot), operation.substr(dot + 1));
  } else {
    op = registry.FindNewest(operation);
    if (!op.valid()) op = registry.Find(ir::kNnefSet, operation);
  }
  if (!op.valid()) throw Error("there is no operation `{}`", operation);
  return op;
}

// Moves only the name, without tensor names.
void PassName(const Node& from, const Node& to) {
  std::string name = from.name();
  from.SetName(name + "/TBR");
  to.SetName(std::move(name));
}

void TakeTensorNames(ir::Graph& graph, const Port& from, const Port& to) {
  std::vector<std::string> names = from.data().names;
  for (const std::string& other : to.data().names) {
    if (!llvm::is_contained(names, other)) names.push_back(other);
  }
  graph.SetOutputNames({from.node().id(), from.index()}, {});
  graph.SetOutputNames({to.node().id(), to.index()}, std::move(names));
}

}  // namespace

// ---- Port ----

Node Port::node() const {
  return Node(*graph_, node_);
}

Port Port::GetSource() const {
  if (is_output_) throw Error("output {} of {} is asked for its source", index_, Described(node().ir()));
  const ir::OutputPort source = node().ir().input(index_);
  if (graph_->IsNowhere(source))
    throw Error("input {} of {} is not connected", index_, Described(node().ir()));
  return Port(*graph_, source.node, source.index, true);
}

std::vector<Port> Port::GetDestinations() const {
  if (!is_output_)
    throw Error("input {} of {} is asked for its destinations", index_, Described(node().ir()));
  const llvm::ArrayRef<ir::InputPort> uses = node().ir().uses(index_);
  std::vector<ir::InputPort> sorted(uses.begin(), uses.end());
  llvm::sort(sorted, [](ir::InputPort a, ir::InputPort b) {
    return std::pair(a.node.index, a.index) < std::pair(b.node.index, b.index);
  });
  std::vector<Port> ports;
  ports.reserve(sorted.size());
  for (ir::InputPort use : sorted) ports.emplace_back(*graph_, use.node, use.index, false);
  return ports;
}

bool Port::IsDisconnected() const {
  return is_output_ ? node().ir().uses(index_).empty() : graph_->IsNowhere(node().ir().input(index_));
}

void Port::Connect(const Port& other) {
  if (is_output_ == other.is_output_)
    throw Error("two {} are to be connected, of {} and {}", is_output_ ? "outputs" : "inputs",
                Described(node().ir()), Described(other.node().ir()));
  const Port& input = is_output_ ? other : *this;
  const Port& output = is_output_ ? *this : other;
  if (output.graph_ != input.graph_)
    throw Error("{} and {} are nodes of two graphs", Described(output.node().ir()),
                Described(input.node().ir()));
  graph_->SetInput(input.node_, input.index_, {output.node_, output.index_});
}

void Port::Disconnect() {
  if (!is_output_) {
    graph_->SetInput(node_, index_, graph_->Nowhere());
    return;
  }
  for (const Port& port : GetDestinations()) graph_->SetInput(port.node_, port.index_, graph_->Nowhere());
}

Connection Port::GetConnection() const {
  if (is_output_) return Connection(*this, GetDestinations());
  return Connection(GetSource(), {*this});
}

const ir::Output& Port::data() const {
  if (is_output_) return node().ir().output(index_);
  const Port source = GetSource();
  return source.node().ir().output(source.index_);
}

// ---- Connection ----

Port Connection::GetDestination() const {
  if (destinations_.size() != 1)
    throw Error("output {} of {} feeds {} inputs; expected one", source_.index(),
                Described(source_.node().ir()), destinations_.size());
  return destinations_.front();
}

void Connection::SetSource(const Port& source) {
  if (!source.is_output())
    throw Error("input {} of {} is to be a source", source.index(), Described(source.node().ir()));
  for (Port& destination : destinations_) destination.Connect(source);
  source_ = source;
}

void Connection::SetDestination(const Port& destination) {
  if (destination.is_output())
    throw Error("output {} of {} is to be a destination", destination.index(),
                Described(destination.node().ir()));
  const Port source = source_;
  for (Port& port : destinations_) port.Disconnect();
  Port target = destination;
  target.Connect(source);
  destinations_ = {target};
}

void Connection::InsertNode(const Node& node) {
  const Port source = source_;
  SetSource(node.out_port(0));
  node.in_port(0).Connect(source);
}

// ---- Node ----

bool Node::exists() const {
  return graph_->ir().Contains(id_);
}

const ir::Node& Node::ir() const {
  if (!exists()) throw Error("a node that was removed is used");
  return graph_->ir().node(id_);
}

void Node::SetName(std::string name) const {
  ir();
  graph_->CountName(this->name(), -1);
  graph_->CountName(name, 1);
  graph_->graph_.SetName(id_, std::move(name));
}

const ir::Attribute& Node::Get(std::string_view attribute) const {
  if (const ir::Attribute* found = Find(attribute)) return *found;
  throw Error("{} has no attribute `{}`", Described(ir()), attribute);
}

void Node::Set(std::string_view attribute, ir::Attribute value) const {
  ir();
  graph_->graph_.SetAttribute(id_, attribute, std::move(value));
  graph_->MarkForInference(*this);
}

void Node::Erase(std::string_view attribute) const {
  ir();
  graph_->graph_.EraseAttribute(id_, attribute);
  graph_->MarkForInference(*this);
}

Port Node::in_port(int32_t index) const {
  if (index < 0 || index >= num_in_ports())
    throw Error("{} has no input {}; it has {}", Described(ir()), index, num_in_ports());
  return Port(*graph_, id_, index, false);
}

Port Node::out_port(int32_t index) const {
  if (index < 0 || index >= num_out_ports())
    throw Error("{} has no output {}; it has {}", Described(ir()), index, num_out_ports());
  return Port(*graph_, id_, index, true);
}

std::vector<Port> Node::in_ports() const {
  std::vector<Port> ports;
  ports.reserve(static_cast<size_t>(num_in_ports()));
  for (int32_t i = 0; i < num_in_ports(); ++i) ports.push_back(in_port(i));
  return ports;
}

std::vector<Port> Node::out_ports() const {
  std::vector<Port> ports;
  ports.reserve(static_cast<size_t>(num_out_ports()));
  for (int32_t i = 0; i < num_out_ports(); ++i) ports.push_back(out_port(i));
  return ports;
}

// ---- Graph ----

std::vector<Node> Graph::GetNodes() {
  std::vector<Node> nodes;
  for (ir::NodeId id : graph_.nodes()) {
    if (!nowhere_.valid() || id != nowhere_.node) nodes.emplace_back(*this, id);
  }
  return nodes;
}

std::vector<Node> Graph::GetOpNodes(std::string_view operation) {
  const std::vector<ir::OpId> ops = graph_.registry().FindNamed(operation);
  std::vector<Node> nodes = GetNodes();
  llvm::erase_if(nodes, [&](const Node& node) { return !llvm::is_contained(ops, node.ir().op()); });
  return nodes;
}

std::optional<Node> Graph::FindNode(std::string_view name) {
  for (const Node& node : GetNodes()) {
    if (node.name() == name) return node;
  }
  return std::nullopt;
}

Node Graph::CreateNode(std::string_view operation, llvm::ArrayRef<Port> sources, Spec spec) {
  const ir::OpId op = FindOperation(graph_.registry(), operation);
  llvm::SmallVector<ir::OutputPort, 4> inputs;
  for (const Port& source : sources) {
    if (!source.is_output_) throw Error("a source of a new `{}` is an input", operation);
    if (source.graph_ != this) throw Error("a source of a new `{}` is of another graph", operation);
    source.node().ir();
    inputs.push_back({source.node_, source.index_});
  }
  const ir::OpInfo& info = graph_.registry().Info(op);
  const auto required = llvm::count_if(
      info.inputs, [](const ir::InputInfo& input) { return !input.optional && !input.variadic; });
  const auto wanted = static_cast<size_t>(spec.num_inputs.value_or(static_cast<int32_t>(required)));
  if (info.is_source && std::max(wanted, inputs.size()) > 0)
    throw Error("a new `{}` has {} inputs; expected none", operation, std::max(wanted, inputs.size()));
  while (inputs.size() < wanted) inputs.push_back(Nowhere());
  CountName(spec.name, 1);
  if (info.role == ir::OpRole::kResult) {
    if (inputs.size() != 1) throw Error("a new Result reads {} tensors; expected one", inputs.size());
    return Node(*this, ir::AddResult(graph_, std::move(spec.name), inputs.front(), std::move(spec.origin)));
  }
  // Configurations write 0 and 1 for booleans, as in the Model Optimizer.
  for (const ir::AttributeInfo& attribute : info.attributes) {
    const ir::Attribute* given = spec.attributes.Find(attribute.name);
    const auto* number = given == nullptr ? nullptr : given->get<int64_t>();
    const bool is_truth = number != nullptr && (*number == 0 || *number == 1);
    if (attribute.kind == ir::AttributeKind::kBool && is_truth)
      spec.attributes.Set(attribute.name, *number == 1);
  }
  const ir::NodeId id = graph_.AddNode({.op = op,
                                        .name = std::move(spec.name),
                                        .inputs = inputs,
                                        .attributes = std::move(spec.attributes),
                                        .num_outputs = spec.num_outputs,
                                        .origin = std::move(spec.origin)});
  if (info.role == ir::OpRole::kParameter || info.role == ir::OpRole::kExternal) graph_.AddToParameters(id);
  const Node node(*this, id);
  InferNow(node);
  return node;
}

Node Graph::CreateConst(TensorValue value, std::string name) {
  CountName(name, 1);
  return Node(*this, ir::AddConst(graph_, std::move(value), std::move(name)));
}

Node Graph::CreateResult(const Port& source, std::string name) {
  if (!source.is_output_) throw Error("the source of a new Result is an input");
  source.node().ir();
  CountName(name, 1);
  return Node(*this, ir::AddResult(graph_, std::move(name), {source.node_, source.index_}));
}

Port Graph::AddInPort(const Node& node, const Port& source) {
  if (!source.is_output_) throw Error("the source of a new input is an input");
  source.node().ir();
  const ir::OpInfo& info = node.ir().info();
  const bool open = !info.inputs.empty() && info.inputs.back().variadic;
  if (!node.ir().segments().empty() ||
      (!open && static_cast<size_t>(node.num_in_ports()) >= info.inputs.size()))
    throw Error("{} takes no more inputs", Described(node.ir()));
  graph_.AddInput(node.id(), {source.node_, source.index_});
  MarkForInference(node);
  return node.in_port(node.num_in_ports() - 1);
}

Graph::InlinedBody Graph::InlineBody(const Node& node, size_t body, llvm::ArrayRef<Port> parameters) {
  if (body >= node.ir().bodies().size() ||
      parameters.size() != node.ir().bodies()[body].graph->parameters().size())
    throw Error("{} has no body {} of {} parameters", Described(node.ir()), body, parameters.size());
  std::vector<ir::OutputPort> sources;
  for (const Port& parameter : parameters) sources.push_back({parameter.node_, parameter.index_});
  const ir::InlinedBody made = ir::InlineBody(graph_, node.id(), body, sources);
  // Clear all names first, so that each node can receive a unique one.
  std::vector<std::string> names;
  for (ir::NodeId id : made.nodes) {
    names.push_back(graph_.node(id).name());
    graph_.SetName(id, "");
    for (int32_t i = 0; i < graph_.node(id).num_outputs(); ++i)
      graph_.SetOutputNames(graph_.node(id).port(i), {});
  }
  InlinedBody result;
  for (size_t i = 0; i < names.size(); ++i) {
    const Node& copy = result.nodes.emplace_back(*this, made.nodes[i]);
    copy.SetName(UniqueName(names[i]));
    if (!copy.ir().info().is_source) InferNow(copy);
  }
  for (ir::OutputPort port : made.results) result.results.emplace_back(*this, port.node, port.index, true);
  return result;
}

void Graph::Remove(const Node& node) {
  for (const Port& port : node.out_ports()) {
    if (port.IsDisconnected()) continue;
    throw Error("{} cannot be removed: {} reads its output {}", Described(node.ir()),
                Described(port.GetDestinations().front().node().ir()), port.index());
  }
  marked_.remove(node.id().index);
  CountName(node.name(), -1);
  graph_.Erase(node.id());
}

void Graph::Rename(llvm::ArrayRef<std::pair<Node, std::string>> names) {
  for (const auto& [node, name] : names) node.SetName(name);
}

void Graph::TakeName(const Node& from, const Node& to) {
  PassName(from, to);
  const int32_t shared = std::min(from.num_out_ports(), to.num_out_ports());
  for (int32_t i = 0; i < shared; ++i) TakeTensorNames(graph_, from.out_port(i), to.out_port(i));
}

void Graph::TakeOutputs(llvm::ArrayRef<std::pair<Port, Port>> from_to) {
  std::map<int32_t, std::pair<Port, Port>> first;  // key: id of the replaced node
  for (const auto& pair : from_to) {
    const auto [found, is_new] = first.try_emplace(pair.first.node_.index, pair);
    if (!is_new && pair.first.index() < found->second.first.index()) found->second = pair;
    pair.first.GetConnection().SetSource(pair.second);
    TakeTensorNames(graph_, pair.first, pair.second);
  }
  std::set<int32_t> named;
  for (const auto& [id, pair] : first) {
    if (named.insert(pair.second.node_.index).second) PassName(pair.first.node(), pair.second.node());
  }
}

bool Graph::Bypass(const Port& from, const Port& to) {
  const auto is_result = [](const Port& port) { return port.node().ir().Is(ir::OpRole::kResult); };
  const std::vector<Port> readers = from.GetDestinations();
  if (llvm::any_of(readers, is_result)) {
    const ir::Node& source = to.node().ir();
    if (source.num_inputs() == 0 || llvm::any_of(to.GetDestinations(), is_result)) return false;
  }
  Connection(from, readers).SetSource(to);
  std::vector<std::string> names = to.data().names;
  for (const std::string& name : from.data().names) {
    if (!llvm::is_contained(names, name)) names.push_back(name);
  }
  graph_.SetOutputNames({from.node_, from.index_}, {});
  graph_.SetOutputNames({to.node_, to.index_}, std::move(names));
  return true;
}

void Graph::SetType(const Port& output, ElementType type, ir::PartialShape shape) {
  if (!output.is_output_) throw Error("input {} is given a type; outputs have types", output.index_);
  output.node().ir();
  graph_.SetOutputType({output.node_, output.index_}, type, std::move(shape));
}

std::string Graph::UniqueName(std::string_view base) {
  if (!names_) {
    names_.emplace();
    for (const Node& node : GetNodes()) CountName(node.name(), 1);
  }
  const auto is_taken = [&](const std::string& name) { return names_->nodes.lookup(name) > 0; };
  std::string name(base);
  if (!is_taken(name)) return name;
  int32_t& number = names_->numbers.try_emplace(name, 1).first->second;
  do {
    name = fmt::format("{}_{}", base, ++number);
  } while (is_taken(name));
  return name;
}

void Graph::CountName(const std::string& name, int32_t change) {
  if (names_) names_->nodes[name] += change;
}

const std::vector<ir::NodeId>& Graph::Order() {
  ir::NodeOrder& shared = plan_ != nullptr && plan_->order != nullptr ? *plan_->order : order_;
  const std::vector<ir::NodeId>* order = shared.Of(graph_);
  if (order == nullptr) throw Error("the graph contains a cycle");
  return *order;
}

std::optional<std::vector<TensorValue>> Graph::Evaluate(const Node& node, ir::FoldBound bound) const {
  if (evaluate_ == nullptr || node.num_in_ports() == 0 || !ir::IsFoldable(node.ir())) return std::nullopt;
  const auto inputs = ir::KnownInputs(graph_, node.ir(), bound);
  return inputs ? evaluate_(node.ir(), node.ir().outputs(), *inputs) : std::nullopt;
}

std::optional<TensorValue> Graph::EvaluateApart(const Node& node, llvm::ArrayRef<TensorValue> inputs,
                                                ElementType type, const Shape& shape) const {
  if (evaluate_ == nullptr) return std::nullopt;
  ir::Output known;
  known.type = type;
  known.shape = ir::PartialShape(shape);
  std::optional<std::vector<TensorValue>> values = evaluate_(node.ir(), known, inputs);
  if (!values || values->size() != 1) return std::nullopt;
  return std::move(values->front());
}

void Graph::ReplaceAllUses(const Port& from, const Port& to) {
  to.node().ir();
  for (const Port& reader : from.GetDestinations()) MarkForInference(reader.node());
  graph_.ReplaceAllUses({from.node_, from.index_}, {to.node_, to.index_});
}

void Graph::InferNow(const Node& node) {
  MarkForInference(node);
  const auto is_open = [this](ir::OutputPort input) { return IsNowhere(input); };
  if (llvm::any_of(node.ir().inputs(), is_open)) return;
  // Errors are reported when the marked nodes are inferred, and only for nodes that still exist.
  Emitter unheard;
  (void)ir::InferNode(graph_, node.id(), unheard);
}

void Graph::MarkForInference(const Node& node, bool overrides) {
  node.ir();
  marked_.insert(node.id().index);
  if (overrides) overridden_[node.id().index] = true;
}

std::vector<ir::NodeId> Graph::TakeMarked() {
  std::vector<ir::NodeId> nodes;
  for (int32_t index : marked_) {
    if (graph_.Contains(ir::NodeId(index))) nodes.emplace_back(index);
  }
  marked_.clear();
  return nodes;
}

std::vector<std::string> Graph::Unconnected() const {
  std::vector<std::string> found;
  if (!nowhere_.valid() || !graph_.Contains(nowhere_.node)) return found;
  for (ir::InputPort use : graph_.node(nowhere_.node).uses())
    found.push_back(fmt::format("input {} of {}", use.index, Described(graph_.node(use.node))));
  llvm::sort(found);
  return found;
}

void Graph::Finish() {
  if (!nowhere_.valid()) return;
  if (graph_.Contains(nowhere_.node)) graph_.Erase(nowhere_.node);
  nowhere_ = {};
}

ir::OutputPort Graph::Nowhere() {
  // A clean-up removes it while no input reads it.
  if (!nowhere_.valid() || !graph_.Contains(nowhere_.node))
    nowhere_ = {ir::AddConst(graph_, TensorValue::FromInts({}, {0}), "nowhere"), 0};
  return nowhere_;
}

void Graph::SetInput(ir::NodeId node, int32_t index, ir::OutputPort source) {
  Node(*this, node).ir();
  if (!graph_.Contains(source.node))
    throw Error("a node that was removed is to feed `{}`", Node(*this, node).name());
  graph_.SetInput(node, index, source);
  MarkForInference(Node(*this, node));
}

}  // namespace nnefc::transform

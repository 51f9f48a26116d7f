// The graph: nodes, edges, and the lists of uses that each change maintains.

#include "compiler/ir/graph.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace nnefc::ir {

llvm::ArrayRef<OutputPort> Node::segment(int32_t parameter) const {
  NNEFC_CHECK(parameter >= 0);
  const llvm::ArrayRef<OutputPort> inputs = inputs_;
  const llvm::ArrayRef<int32_t> segments = this->segments();
  if (segments.empty()) {
    const std::vector<InputInfo>& entries = info_->inputs;
    const bool rest = static_cast<size_t>(parameter) + 1 == entries.size() && entries.back().variadic;
    if (rest) return inputs.drop_front(std::min<size_t>(static_cast<size_t>(parameter), inputs.size()));
    return parameter < num_inputs() ? inputs.slice(static_cast<size_t>(parameter), 1)
                                    : llvm::ArrayRef<OutputPort>();
  }
  if (static_cast<size_t>(parameter) >= segments.size()) return {};
  size_t begin = 0;
  for (int32_t i = 0; i < parameter; ++i) begin += static_cast<size_t>(segments[static_cast<size_t>(i)]);
  return inputs.slice(begin, static_cast<size_t>(segments[static_cast<size_t>(parameter)]));
}

llvm::ArrayRef<InputPort> Node::uses(int32_t output) const {
  NNEFC_CHECK(output >= 0 && output < num_outputs());
  return uses_[static_cast<size_t>(output)];
}

const AttributeMap& Node::rt_info() const {
  static const AttributeMap kNone;
  return extras_ == nullptr ? kNone : extras_->rt_info;
}

Node::Extras& Node::MakeExtras() {
  if (extras_ == nullptr) extras_ = std::make_unique<Extras>();
  return *extras_;
}

const Attribute& Node::attribute(std::string_view name) const {
  if (const AttributeInfo* implied = info_->FindImplied(name)) return *implied->fallback;
  if (const Attribute* given = attributes_.Find(name)) return *given;
  const AttributeInfo* info = info_->FindAttribute(name);
  NNEFC_CHECK(info != nullptr && info->fallback.has_value());
  return *info->fallback;
}

std::vector<int64_t> Node::Ints(std::string_view name, size_t axes) const {
  std::vector<int64_t> list = Ints(name);
  if (!list.empty()) return list;
  const AttributeInfo* info = info_->FindImplied(name);
  if (info == nullptr) info = info_->FindAttribute(name);
  NNEFC_CHECK(info != nullptr);
  if (info->each_axis.has_value()) list.assign(axes, *info->each_axis);
  return list;
}

NodeList::~NodeList() {
  for (Node* node : nodes_) {
    if (node != nullptr) std::destroy_at(node);
  }
  for (Node* slab : slabs_) AlignedAllocator<Node>().deallocate(slab, 0);
}

void NodeList::Swap(NodeList& other) noexcept {
  nodes_.swap(other.nodes_);
  slabs_.swap(other.slabs_);
  free_.swap(other.free_);
  std::swap(slab_left_, other.slab_left_);
  std::swap(slab_size_, other.slab_size_);
}

Node& NodeList::Add() {
  // Slabs grow from 8 nodes, enough for small bodies, to 8 MiB, so that large graphs use huge pages.
  constexpr size_t kFewest = 8, kMost = (size_t{8} << 20) / sizeof(Node);
  if (free_.empty() && slab_left_ == 0) {
    const size_t size = std::clamp(slab_size_ * 2, kFewest, kMost);
    slabs_.reserve(slabs_.size() + 1);
    slabs_.push_back(AlignedAllocator<Node>().allocate(size));
    slab_left_ = slab_size_ = size;
  }
  nodes_.push_back(nullptr);
  Node* place = free_.empty() ? slabs_.back() + (slab_size_ - slab_left_) : free_.back();
  if (free_.empty()) {
    --slab_left_;
  } else {
    free_.pop_back();
  }
  return *(nodes_.back() = std::construct_at(place));
}

void NodeList::Erase(size_t index) {
  Node* node = std::exchange(nodes_[index], nullptr);
  std::destroy_at(node);
  free_.push_back(node);
}

Graph::Graph(const OpRegistry* registry, std::string name) : registry_(registry), name_(std::move(name)) {
  NNEFC_CHECK(registry != nullptr);
}

const Node& Graph::node(NodeId id) const {
  NNEFC_CHECK(Contains(id));
  return *nodes_[static_cast<size_t>(id.index)];
}

Node& Graph::mutable_node(NodeId id) {
  NNEFC_CHECK(Contains(id));
  return *nodes_[static_cast<size_t>(id.index)];
}

Output& Graph::mutable_output(OutputPort port) {
  Node& node = mutable_node(port.node);
  NNEFC_CHECK(port.index >= 0 && port.index < node.num_outputs());
  return node.outputs_[static_cast<size_t>(port.index)];
}

bool Graph::Contains(NodeId id) const {
  return id.valid() && static_cast<size_t>(id.index) < nodes_.size() &&
         nodes_[static_cast<size_t>(id.index)] != nullptr;
}

std::vector<NodeId> Graph::nodes() const {
  std::vector<NodeId> ids;
  ids.reserve(num_nodes_);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i] != nullptr) ids.push_back(NodeId(static_cast<int32_t>(i)));
  }
  return ids;
}

// ---- uses ----

void Graph::AddUse(Node& user, int32_t input) {
  const OutputPort value = user.inputs_[static_cast<size_t>(input)];
  Node& producer = mutable_node(value.node);
  NNEFC_CHECK(value.index >= 0 && value.index < producer.num_outputs());
  auto& uses = producer.uses_[static_cast<size_t>(value.index)];
  user.use_slots_[static_cast<size_t>(input)] = static_cast<int32_t>(uses.size());
  uses.push_back({user.id_, input});
}

// Removes a use in constant time: the last use moves to its index.
void Graph::RemoveUse(const Node& user, int32_t input) {
  const OutputPort value = user.inputs_[static_cast<size_t>(input)];
  auto& uses = mutable_node(value.node).uses_[static_cast<size_t>(value.index)];
  const int32_t slot = user.use_slots_[static_cast<size_t>(input)];
  const InputPort last = uses.back();
  uses[static_cast<size_t>(slot)] = last;
  mutable_node(last.node).use_slots_[static_cast<size_t>(last.index)] = slot;
  uses.pop_back();
}

// ---- building ----

NodeId Graph::AddNode(NodeSpec spec) {
  NNEFC_CHECK(spec.op.valid() && spec.num_outputs >= 0);
  NNEFC_CHECK(nodes_.size() < static_cast<size_t>(INT32_MAX));
  int64_t segmented = 0;
  for (int32_t count : spec.segments) {
    NNEFC_CHECK(count >= 0);
    segmented += count;
  }
  NNEFC_CHECK(spec.segments.empty() || segmented == static_cast<int64_t>(spec.inputs.size()));

  const NodeId id(static_cast<int32_t>(nodes_.size()));
  Node& node = nodes_.Add();
  node.id_ = id;
  node.op_ = spec.op;
  node.info_ = &registry_->Info(spec.op);
  node.name_ = std::move(spec.name);
  node.inputs_.assign(spec.inputs.begin(), spec.inputs.end());
  node.use_slots_.assign(spec.inputs.size(), -1);
  if (!spec.segments.empty()) node.MakeExtras().segments.assign(spec.segments.begin(), spec.segments.end());
  node.outputs_.resize(static_cast<size_t>(spec.num_outputs));
  node.uses_.resize(static_cast<size_t>(spec.num_outputs));
  node.attributes_ = std::move(spec.attributes);
  node.origin_ = std::move(spec.origin);
  for (int32_t i = 0; i < node.num_inputs(); ++i) AddUse(node, i);
  if (node.info_->is_sink) sinks_.push_back(id);
  ++num_nodes_;
  return id;
}

void Graph::AddToParameters(NodeId node) {
  NNEFC_CHECK(Contains(node));
  parameters_.push_back(node);
}

void Graph::AddToResults(NodeId node) {
  NNEFC_CHECK(Contains(node));
  results_.push_back(node);
}

void Graph::AddToSinks(NodeId node) {
  NNEFC_CHECK(Contains(node));
  if (!sinks_.empty() && sinks_.back() == node) return;
  if (std::find(sinks_.begin(), sinks_.end(), node) == sinks_.end()) sinks_.push_back(node);
}

void Graph::OrderSinks(llvm::ArrayRef<NodeId> first) {
  std::vector<NodeId> sinks;
  std::vector<bool> listed(nodes_.size(), false);
  const auto append = [&](NodeId id) {
    NNEFC_CHECK(Contains(id));
    if (!listed[static_cast<size_t>(id.index)]) sinks.push_back(id);
    listed[static_cast<size_t>(id.index)] = true;
  };
  for (NodeId id : first) append(id);
  for (NodeId id : sinks_) append(id);
  sinks_ = std::move(sinks);
}

// ---- changing ----

void Graph::SetInput(NodeId node, int32_t index, OutputPort value) {
  Node& user = mutable_node(node);
  NNEFC_CHECK(index >= 0 && index < user.num_inputs());
  NNEFC_CHECK(Contains(value.node) && value.index >= 0 && value.index < this->node(value.node).num_outputs());
  RemoveUse(user, index);
  user.inputs_[static_cast<size_t>(index)] = value;
  AddUse(user, index);
}

void Graph::AddInput(NodeId node, OutputPort value) {
  Node& user = mutable_node(node);
  NNEFC_CHECK(user.segments().empty());
  NNEFC_CHECK(Contains(value.node) && value.index >= 0 && value.index < this->node(value.node).num_outputs());
  user.inputs_.push_back(value);
  user.use_slots_.push_back(-1);
  AddUse(user, user.num_inputs() - 1);
}

void Graph::ReplaceAllUses(OutputPort from, OutputPort to) {
  NNEFC_CHECK(Contains(to.node) && to.index >= 0 && to.index < node(to.node).num_outputs());
  if (from == to) return;
  mutable_output(from);  // checks the port
  auto moved = std::move(mutable_node(from.node).uses_[static_cast<size_t>(from.index)]);
  mutable_node(from.node).uses_[static_cast<size_t>(from.index)].clear();
  for (InputPort use : moved) {
    Node& user = mutable_node(use.node);
    user.inputs_[static_cast<size_t>(use.index)] = to;
    AddUse(user, use.index);
  }
}

namespace {

void RemoveFrom(std::vector<NodeId>& list, NodeId node) {
  list.erase(std::remove(list.begin(), list.end(), node), list.end());
}

}  // namespace

// Frees a node that is in no use list any more.
void Graph::Release(NodeId id) {
  if (node(id).num_inputs() == 0) RemoveFrom(parameters_, id);
  if (node(id).num_outputs() == 0) RemoveFrom(results_, id);
  RemoveFrom(sinks_, id);
  nodes_.Erase(static_cast<size_t>(id.index));
  --num_nodes_;
}

void Graph::Erase(NodeId id) {
  Node& node = mutable_node(id);
  for (const auto& uses : node.uses_) NNEFC_CHECK(uses.empty());
  for (int32_t i = 0; i < node.num_inputs(); ++i) RemoveUse(node, i);
  Release(id);
}

void Graph::EraseDeadNodes() {
  std::vector<bool> live(nodes_.size(), false);
  std::vector<NodeId> pending;
  const auto mark = [&](NodeId id) {
    if (live[static_cast<size_t>(id.index)]) return;
    live[static_cast<size_t>(id.index)] = true;
    pending.push_back(id);
  };
  for (NodeId id : parameters_) mark(id);
  for (NodeId id : results_) mark(id);
  for (NodeId id : sinks_) mark(id);
  while (!pending.empty()) {
    const NodeId id = pending.back();
    pending.pop_back();
    for (OutputPort input : node(id).inputs()) mark(input.node);
  }
  // All uses by dead nodes are removed first because dead nodes may form a cycle.
  for (const Node* node : nodes_) {
    if (node == nullptr || live[static_cast<size_t>(node->id_.index)]) continue;
    for (int32_t i = 0; i < node->num_inputs(); ++i) RemoveUse(*node, i);
  }
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i] == nullptr || live[i]) continue;
    nodes_.Erase(i);
    --num_nodes_;
  }
}

void Graph::SetAttribute(NodeId node, std::string_view name, Attribute value) {
  mutable_node(node).attributes_.Set(name, std::move(value));
}
void Graph::EraseAttribute(NodeId node, std::string_view name) {
  mutable_node(node).attributes_.Erase(name);
}
void Graph::SetRtInfo(NodeId node, std::string_view name, Attribute value) {
  mutable_node(node).MakeExtras().rt_info.Set(name, std::move(value));
}
void Graph::EraseRtInfo(NodeId node, std::string_view name) {
  mutable_node(node).MakeExtras().rt_info.Erase(name);
}
void Graph::SetName(NodeId node, std::string name) {
  mutable_node(node).name_ = std::move(name);
}

void Graph::SetOutputType(OutputPort port, ElementType type, PartialShape shape) {
  Output& output = mutable_output(port);
  output.type = type;
  output.shape = std::move(shape);
}
void Graph::SetOutputValue(OutputPort port, std::optional<TensorValue> value) {
  mutable_output(port).value = std::move(value);
}
void Graph::SetOutputNames(OutputPort port, std::vector<std::string> names) {
  mutable_output(port).names = std::move(names);
}

Body& Graph::AddBody(NodeId node, Body body) {
  NNEFC_CHECK(body.graph != nullptr);
  std::vector<Body>& bodies = mutable_node(node).MakeExtras().bodies;
  bodies.push_back(std::move(body));
  return bodies.back();
}

Body& Graph::body(NodeId node, size_t index) {
  NNEFC_CHECK(index < this->node(node).bodies().size());
  return mutable_node(node).extras_->bodies[index];
}

// ---- free functions ----

NodeId AddNode(Graph& graph, std::string_view set, std::string_view name, NodeSpec spec) {
  spec.op = graph.registry().Find(set, name);
  NNEFC_CHECK(spec.op.valid());
  return graph.AddNode(std::move(spec));
}

NodeId AddConst(Graph& graph, TensorValue value, std::string name, Origin origin) {
  NNEFC_CHECK(value.valid());
  const NodeId id = AddNode(graph, "opset1", "Const", {.name = std::move(name), .origin = std::move(origin)});
  graph.SetOutputType({id, 0}, value.type(), PartialShape(llvm::ArrayRef<int64_t>(value.shape())));
  graph.SetOutputValue({id, 0}, std::move(value));
  return id;
}

NodeId AddParameter(Graph& graph, std::string name, ElementType type, PartialShape shape, Origin origin) {
  AttributeMap attributes;
  attributes.Set("element_type", type);
  attributes.Set("shape", shape);
  const NodeId id =
      AddNode(graph, "opset1", "Parameter",
              {.name = std::move(name), .attributes = std::move(attributes), .origin = std::move(origin)});
  graph.SetOutputType({id, 0}, type, std::move(shape));
  graph.AddToParameters(id);
  return id;
}

NodeId AddResult(Graph& graph, std::string name, OutputPort value, Origin origin) {
  const NodeId id =
      AddNode(graph, "opset1", "Result",
              {.name = std::move(name), .inputs = value, .num_outputs = 0, .origin = std::move(origin)});
  graph.AddToResults(id);
  return id;
}

std::optional<std::vector<NodeId>> TopologicalOrder(const Graph& graph) {
  enum class State : uint8_t { kNew, kOpen, kDone };
  struct Visit {
    const Node* node;
    int32_t next_input;
  };
  std::vector<State> states(graph.node_bound(), State::kNew);
  std::vector<NodeId> order;
  order.reserve(graph.num_nodes());
  std::vector<Visit> stack;
  for (size_t i = 0; i < graph.node_bound(); ++i) {
    const NodeId root(static_cast<int32_t>(i));
    if (states[i] != State::kNew || !graph.Contains(root)) continue;
    states[i] = State::kOpen;
    stack.push_back({&graph.node(root), 0});
    while (!stack.empty()) {
      Visit& visit = stack.back();
      if (visit.next_input == visit.node->num_inputs()) {
        states[static_cast<size_t>(visit.node->id().index)] = State::kDone;
        order.push_back(visit.node->id());
        stack.pop_back();
        continue;
      }
      const NodeId feeder = visit.node->input(visit.next_input++).node;
      State& state = states[static_cast<size_t>(feeder.index)];
      if (state == State::kOpen) return std::nullopt;
      if (state == State::kDone) continue;
      state = State::kOpen;
      stack.push_back({&graph.node(feeder), 0});
    }
  }
  return order;
}

}  // namespace nnefc::ir

// The replacement of Select by If, so that only the selected branch is executed.

#include "compiler/transform/middle/control_flow/branches.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/algorithms/copy.h"
#include "compiler/ir/algorithms/verify.h"
#include "compiler/ir/ops/opset/control_flow/port_maps.h"
#include "compiler/transform/middle/control_flow/branch_work.h"
#include "compiler/transform/middle/control_flow/post_dominators.h"
#include "compiler/transform/pipeline/standard.h"
#include "llvm/ADT/DenseMap.h"

namespace nnefc::transform::middle {

namespace {

using ir::NodeId;
using ir::OutputPort;

ir::AttributeMap OneAttribute(std::string_view name, ir::Attribute value) {
  ir::AttributeMap attributes;
  attributes.Set(name, std::move(value));
  return attributes;
}

constexpr int32_t kThen = 0, kElse = 1;
constexpr int32_t kNone = -1;
// The maximum number of moves of nodes into bodies. A node in nested branches moves once per level; beyond
// the limit, selects in bodies remain, to bound the time for long chains.
constexpr int64_t kMaxMoves = 500'000;

bool IsConst(const ir::Node& node) {
  return node.Is(ir::OpRole::kConst);
}

// Returns whether a node may move into a body: not states, sinks or operations without a shape function.
bool IsMovable(const ir::Node& node) {
  return node.info().infer != nullptr && !node.info().is_sink && !node.info().is_source &&
         !node.Is(ir::OpRole::kReadValue) && !node.Is(ir::OpRole::kResult);
}

// Returns the one-element tensor at the start of a condition's chain of views.
OutputPort BaseOf(const ir::Graph& graph, OutputPort condition) {
  while (true) {
    const ir::Node& node = graph.node(condition.node);
    if (!node.Is(ir::OpRole::kView)) return condition;
    condition = node.input(0);
  }
}

// Returns whether a node is a Select with an unknown one-element condition.
bool IsCandidate(const ir::Graph& graph, const ir::Node& node) {
  if (!node.Is(ir::ElementFunction::kSelect) || !node.output().shape.known()) return false;
  if (node.String("auto_broadcast") != "numpy") return false;
  if (graph.output(node.input(0)).shape.volume() != 1) return false;
  if (!graph.output(node.input(1)).shape.known() || !graph.output(node.input(2)).shape.known()) return false;
  return !IsConst(graph.node(BaseOf(graph, node.input(0)).node));
}

// Selects with the same condition, independent of each other.
struct Group {
  OutputPort condition;
  std::vector<NodeId> selects;
  // Vertices of the branches in the post-dominator tree: the nodes below lead only to that branch.
  std::array<int32_t, 2> places = {kNone, kNone};
  bool taken = false;
};

// The rewriting of one graph.
class BranchChooser {
 public:
  // `moves` counts the nodes moved into bodies so far.
  BranchChooser(ir::Graph& graph, int depth, int64_t& moves) : graph_(graph), depth_(depth), moves_(moves) {}

  void Run();

 private:
  void FindGroups();
  void BuildTree();
  std::vector<int32_t> SuccessorsOf(const ir::Node& node) const;
  // Sums the work below each vertex and selects the outermost groups that are worth an If.
  void TakeGroups();
  void MakeIf(const Group& group);

  int32_t& place(NodeId id) { return places_[static_cast<size_t>(id.index)]; }
  int32_t place(NodeId id) const { return places_[static_cast<size_t>(id.index)]; }

  ir::Graph& graph_;
  const int depth_;
  int64_t& moves_;
  std::vector<NodeId> order_;
  std::vector<Group> groups_;
  std::vector<int32_t> group_of_;                       // indexed by node
  std::vector<int32_t> places_;                         // indexed by node; kNone for constants
  std::vector<int32_t> tree_order_;                     // starting with the exit
  std::vector<int32_t> owner_;                          // vertex -> vertex of the branch it moves to
  llvm::DenseMap<int32_t, std::vector<NodeId>> moved_;  // vertex of a branch -> nodes, in order
  std::vector<NodeId> node_at_;                         // indexed by vertex
  std::optional<PostDominatorTree> tree_;
};

void BranchChooser::Run() {
  std::optional<std::vector<NodeId>> order = ir::TopologicalOrder(graph_);
  NNEFC_CHECK(order.has_value());
  order_ = std::move(*order);
  FindGroups();
  if (groups_.empty() || depth_ >= ir::kMaxBodyNesting) return;
  BuildTree();
  TakeGroups();
  bool changed = false;
  for (const Group& group : groups_) {
    if (!group.taken) continue;
    MakeIf(group);
    changed = true;
  }
  if (changed) graph_.EraseDeadNodes();
}

// Groups Selects with the same condition and the same number of nested Selects before them, so that none
// depends on another.
void BranchChooser::FindGroups() {
  std::vector<int32_t> rank(graph_.node_bound(), 0);
  group_of_.assign(graph_.node_bound(), kNone);
  std::map<std::array<int32_t, 3>, int32_t> known;  // key: condition and rank
  for (NodeId id : order_) {
    const ir::Node& node = graph_.node(id);
    int32_t& highest = rank[static_cast<size_t>(id.index)];
    for (OutputPort input : node.inputs())
      highest = std::max(highest, rank[static_cast<size_t>(input.node.index)]);
    if (!IsCandidate(graph_, node)) continue;
    const OutputPort condition = BaseOf(graph_, node.input(0));
    const auto next = static_cast<int32_t>(groups_.size());
    const auto [entry, added] = known.try_emplace({condition.node.index, condition.index, highest}, next);
    if (added) groups_.push_back({.condition = condition, .selects = {}});
    groups_[static_cast<size_t>(entry->second)].selects.push_back(id);
    group_of_[static_cast<size_t>(id.index)] = entry->second;
    ++highest;
  }
}

// Returns the vertices that consume a node's values. A branch of a Select leads to the vertex of its group; a
// node that cannot move also leads to the exit.
std::vector<int32_t> BranchChooser::SuccessorsOf(const ir::Node& node) const {
  std::vector<int32_t> successors;
  if (!IsMovable(node)) successors.push_back(PostDominatorTree::kExit);
  for (int32_t i = 0; i < node.num_outputs(); ++i) {
    for (ir::InputPort use : node.uses(i)) {
      const int32_t group = group_of_[static_cast<size_t>(use.node.index)];
      const bool is_branch = group != kNone && use.index > 0;
      successors.push_back(
          is_branch ? groups_[static_cast<size_t>(group)].places[static_cast<size_t>(use.index - 1)]
                    : place(use.node));
    }
  }
  if (successors.empty()) successors.push_back(PostDominatorTree::kExit);
  return successors;
}

// Adds nodes and vertices of groups, successors first.
void BranchChooser::BuildTree() {
  places_.assign(graph_.node_bound(), kNone);
  node_at_.assign(1, NodeId());
  for (NodeId id : order_) {
    if (IsConst(graph_.node(id))) continue;
    place(id) = static_cast<int32_t>(node_at_.size());
    node_at_.push_back(id);
  }
  std::vector<std::vector<int32_t>> successors(node_at_.size());
  for (Group& group : groups_) {
    std::vector<int32_t> selects;
    selects.reserve(group.selects.size());
    for (NodeId select : group.selects) selects.push_back(place(select));
    for (int32_t& branch : group.places) {
      branch = static_cast<int32_t>(successors.size());
      successors.push_back(selects);
    }
  }
  for (size_t i = 1; i < node_at_.size(); ++i) successors[i] = SuccessorsOf(graph_.node(node_at_[i]));
  std::vector<std::vector<int32_t>> predecessors(successors.size());
  std::vector<size_t> missing(successors.size());
  for (size_t i = 1; i < successors.size(); ++i) {
    missing[i] = successors[i].size();
    for (int32_t successor : successors[i]) {
      predecessors[static_cast<size_t>(successor)].push_back(static_cast<int32_t>(i));
    }
  }
  tree_.emplace(successors.size());
  tree_order_ = {PostDominatorTree::kExit};
  for (size_t next = 0; next < tree_order_.size(); ++next) {
    for (int32_t ready : predecessors[static_cast<size_t>(tree_order_[next])]) {
      if (--missing[static_cast<size_t>(ready)] > 0) continue;
      tree_->Add(ready, successors[static_cast<size_t>(ready)]);
      tree_order_.push_back(ready);
    }
  }
  NNEFC_CHECK(tree_order_.size() == successors.size());
}

void BranchChooser::TakeGroups() {
  std::vector<int64_t> work(tree_order_.size(), 0);
  std::vector<int> height(tree_order_.size(), 0);  // nesting of bodies
  for (size_t i = tree_order_.size(); i-- > 1;) {
    const auto at = static_cast<size_t>(tree_order_[i]);
    if (at < node_at_.size()) {
      const ir::Node& node = graph_.node(node_at_[at]);
      work[at] += WorkOf(graph_, node);
      if (!node.bodies().empty()) height[at] = std::max(height[at], ir::ops::opset::NestingHeight(node));
    }
    const auto above = static_cast<size_t>(tree_->parent(tree_order_[i]));
    work[above] = std::min(work[above] + work[at], kRealWork);
    height[above] = std::max(height[above], height[at]);
  }
  for (Group& group : groups_) {
    bool fits = true;
    for (int32_t at : group.places) {
      group.taken |= work[static_cast<size_t>(at)] >= kRealWork;
      fits &= depth_ + 1 + height[static_cast<size_t>(at)] <= ir::kMaxBodyNesting;
    }
    group.taken &= fits;
  }
  owner_.assign(tree_order_.size(), kNone);
  std::vector<int32_t> group_at(tree_order_.size(), kNone);
  for (size_t i = 0; i < groups_.size(); ++i) {
    for (int32_t at : groups_[i].places) group_at[static_cast<size_t>(at)] = static_cast<int32_t>(i);
  }
  for (int32_t at : tree_order_) {
    if (at == PostDominatorTree::kExit) continue;
    int32_t& owner = owner_[static_cast<size_t>(at)];
    owner = owner_[static_cast<size_t>(tree_->parent(at))];
    if (group_at[static_cast<size_t>(at)] == kNone) continue;
    // A group with a Select that moves into a body is handled when that body is processed.
    Group& group = groups_[static_cast<size_t>(group_at[static_cast<size_t>(at)])];
    for (NodeId select : group.selects) {
      group.taken = group.taken && owner_[static_cast<size_t>(place(select))] == kNone;
    }
    if (group.taken) owner = at;
  }
  for (NodeId id : order_) {
    const int32_t owner = place(id) == kNone ? kNone : owner_[static_cast<size_t>(place(id))];
    if (owner != kNone) moved_[owner].push_back(id);
  }
}

// A body of an If under construction, with the values that it captures.
class BodyMaker {
 public:
  BodyMaker(ir::Graph& outer, std::string name)
      : outer_(outer),
        body_(std::make_unique<ir::Graph>(&outer.registry(), std::move(name))),
        copier_(*body_) {}

  // Moves a node whose inputs are in the body, constant, or permanently outside.
  void Move(NodeId id);
  // Adds the result of a branch, broadcast to the shape of the Select.
  void AddResult(const ir::Node& select, OutputPort value);
  std::unique_ptr<ir::Graph> Take() { return std::move(body_); }
  ir::Graph& body() { return *body_; }
  // The outer ports that feed the parameters, in order.
  llvm::ArrayRef<OutputPort> captured() const { return captured_; }

 private:
  OutputPort Find(OutputPort port);

  ir::Graph& outer_;
  std::unique_ptr<ir::Graph> body_;
  ir::NodeCopier copier_;
  std::vector<OutputPort> captured_;
};

OutputPort BodyMaker::Find(OutputPort port) {
  if (const OutputPort known = copier_.Mapped(port); known.valid()) return known;
  const ir::Node& node = outer_.node(port.node);
  if (IsConst(node)) {
    copier_.Copy(node);
  } else {
    const ir::Output& output = node.output(port.index);
    const std::string& name = output.names.empty() ? node.name() : output.names.front();
    copier_.Map(port, {ir::AddParameter(*body_, name, output.type, output.shape, node.origin()), 0});
    captured_.push_back(port);
  }
  return copier_.Mapped(port);
}

void BodyMaker::Move(NodeId id) {
  const ir::Node& node = outer_.node(id);
  for (OutputPort input : node.inputs()) Find(input);
  const NodeId moved = copier_.Copy(node, ir::Bodies::kLeave);
  for (size_t i = 0; i < node.bodies().size(); ++i) body_->AddBody(moved, std::move(outer_.body(id, i)));
}

void BodyMaker::AddResult(const ir::Node& select, OutputPort value) {
  OutputPort port = Find(value);
  const Shape wanted = select.output().shape.known_extents();
  if (body_->output(port).shape.known_extents() != wanted) {
    const NodeId shape =
        ir::AddConst(*body_, TensorValue::FromInts({static_cast<int64_t>(wanted.size())}, wanted),
                     select.name() + "/shape", select.origin());
    const NodeId broadcast = ir::AddNode(*body_, "opset3", "Broadcast",
                                         {.op = {},
                                          .name = select.name() + "/broadcast",
                                          .inputs = {port, {shape, 0}},
                                          .attributes = OneAttribute("mode", "numpy"),
                                          .origin = select.origin()});
    body_->SetOutputType({broadcast, 0}, select.output().type, select.output().shape);
    port = {broadcast, 0};
  }
  ir::AddResult(*body_, select.name(), port, select.origin());
}

// Returns the condition with rank 0 or 1, as required by If.
OutputPort ConditionOf(ir::Graph& graph, OutputPort base, const ir::Node& select) {
  const ir::PartialShape& shape = graph.output(base).shape;
  if (shape.rank_known() && shape.rank() <= 1) return base;
  const NodeId extents = ir::AddConst(graph, TensorValue::FromInts({0}, llvm::ArrayRef<int64_t>()),
                                      select.name() + "/condition_shape", select.origin());
  const NodeId reshape = ir::AddNode(graph, "opset1", "Reshape",
                                     {.op = {},
                                      .name = select.name() + "/condition",
                                      .inputs = {base, {extents, 0}},
                                      .attributes = OneAttribute("special_zero", false),
                                      .origin = select.origin()});
  graph.SetOutputType({reshape, 0}, ElementType::kBoolean, ir::PartialShape(llvm::ArrayRef<int64_t>()));
  return {reshape, 0};
}

void BranchChooser::MakeIf(const Group& group) {
  const ir::Node& first = graph_.node(group.selects.front());
  std::vector<OutputPort> inputs = {ConditionOf(graph_, group.condition, first)};
  llvm::DenseMap<std::pair<int32_t, int32_t>, int32_t> input_of;
  std::vector<ir::Body> bodies;
  for (int32_t branch : {kThen, kElse}) {
    BodyMaker maker(graph_, first.name() + (branch == kThen ? "/then" : "/else"));
    const std::vector<NodeId>& moved = moved_[group.places[static_cast<size_t>(branch)]];
    for (NodeId id : moved) maker.Move(id);
    moves_ += static_cast<int64_t>(moved.size());
    for (NodeId select : group.selects)
      maker.AddResult(graph_.node(select), graph_.node(select).input(1 + branch));
    ir::Body body;
    body.role = branch == kThen ? "then_body" : "else_body";
    for (size_t i = 0; i < maker.captured().size(); ++i) {
      const OutputPort port = maker.captured()[i];
      const auto next = static_cast<int32_t>(inputs.size());
      const auto [entry, added] = input_of.try_emplace({port.node.index, port.index}, next);
      if (added) inputs.push_back(port);
      body.inputs.push_back(
          {.external = entry->second, .internal = static_cast<int32_t>(i), .axis = std::nullopt});
    }
    for (size_t i = 0; i < group.selects.size(); ++i) {
      const auto index = static_cast<int32_t>(i);
      body.outputs.push_back({.external = index, .internal = index, .axis = std::nullopt});
    }
    if (moves_ < kMaxMoves) BranchChooser(maker.body(), depth_ + 1, moves_).Run();
    body.graph = maker.Take();
    bodies.push_back(std::move(body));
  }
  const NodeId made = ir::AddNode(graph_, "opset8", "If",
                                  {.op = {},
                                   .name = first.name(),
                                   .inputs = inputs,
                                   .num_outputs = static_cast<int32_t>(group.selects.size()),
                                   .origin = first.origin()});
  for (ir::Body& body : bodies) graph_.AddBody(made, std::move(body));
  for (size_t i = 0; i < group.selects.size(); ++i) {
    const OutputPort select{group.selects[i], 0};
    const OutputPort output{made, static_cast<int32_t>(i)};
    graph_.SetOutputType(output, graph_.output(select).type, graph_.output(select).shape);
    graph_.SetOutputNames(output, graph_.output(select).names);
    graph_.ReplaceAllUses(select, output);
  }
}

}  // namespace

void ChooseBranches(ir::Graph& graph, int depth) {
  int64_t moves = 0;
  BranchChooser(graph, depth, moves).Run();
}

namespace {

// Processes bodies from the innermost outwards.
void ChooseBranchesWithin(ir::Graph& graph, int depth) {
  for (NodeId id : graph.nodes()) {
    for (size_t i = 0; i < graph.node(id).bodies().size(); ++i)
      ChooseBranchesWithin(*graph.body(id, i).graph, depth + 1);
  }
  ChooseBranches(graph, depth);
}

}  // namespace

class SelectToIf : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "Select by a condition of one element becomes If where a branch does real work, which then is "
           "done "
           "only when it is asked for.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "c" {element_type = boolean, shape = shape[]} : boolean[]
%1 = opset1.Parameter "x" {element_type = f32, shape = shape[4,4]} : f32[4,4]
%2 = opset1.MatMul "m" (%1, %1) {transpose_a = false, transpose_b = false} : f32[4,4]
%3 = opset1.Select "s" (%0, %2, %1) {auto_broadcast = "numpy"} : f32[4,4]
opset1.Result "y" (%3)
)";
  }
  // Processes bodies itself: they move with their nodes, in a different order.
  SelectToIf() { run_not_recursively = true; }
  Names RunBefore() const override { return {"PostMiddleStart"}; }
  Names RunAfter() const override { return {"middle.RemoveUnneeded", "MiddleFinish"}; }
  void FindAndReplacePattern(Graph& graph) override { ChooseBranchesWithin(graph.Raw(), 0); }
};

void RegisterBranches(TransformationList& list) {
  list.Add<middle::SelectToIf>();
}

}  // namespace nnefc::transform::middle

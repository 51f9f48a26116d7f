#include "compiler/ir/ops/costs.h"

#include <algorithm>

#include "compiler/ir/ops/opset/control_flow/iterations.h"
#include "compiler/ir/ops/opset/control_flow/unrolled_size.h"
#include "compiler/ir/ops/opset/dims.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::ir::ops {

using opset::SaturatingAdd;
using opset::SaturatingMultiply;

namespace {

std::optional<Shape> ExtentsOf(const Graph& graph, OutputPort port) {
  const PartialShape& shape = graph.output(port).shape;
  return shape.known() ? std::optional<Shape>(shape.known_extents()) : std::nullopt;
}

// Returns the bytes of a tensor; those of strings are unknown and do not count.
std::optional<int64_t> BytesOf(const Output& output) {
  const std::optional<int64_t> volume = output.shape.volume();
  if (!volume) return std::nullopt;
  const int64_t bits = SaturatingMultiply(*volume, BitWidth(output.type));
  return bits / 8 + (bits % 8 != 0 ? 1 : 0);
}

// Returns the iterations of a loop; if a condition may end it earlier, at most those of its slices, else of
// its concatenated results.
std::optional<int64_t> IterationsOf(const Graph& graph, const Node& loop) {
  if (opset::IsLoop(loop)) {
    if (const std::optional<int64_t> known = opset::KnownIterations(graph, loop)) return known;
  }
  const auto count = [&](const auto& mapping, OutputPort port) -> std::optional<int64_t> {
    const std::optional<Shape> extents = ExtentsOf(graph, port);
    if (!extents || *mapping.axis < 0 || *mapping.axis >= static_cast<int64_t>(extents->size()))
      return std::nullopt;
    std::string reason;
    return opset::CountIterations({mapping.start, mapping.end, mapping.stride, mapping.part_size},
                                  (*extents)[static_cast<size_t>(*mapping.axis)], &reason);
  };
  const Body& body = loop.bodies()[0];
  for (const InputMapping& mapping : body.inputs) {
    if (mapping.axis) return count(mapping, loop.input(mapping.external));
  }
  for (const OutputMapping& mapping : body.outputs) {
    if (mapping.axis) return count(mapping, loop.port(mapping.external));
  }
  return std::nullopt;
}

// Adds the parameters of the bodies of a node, and sets its multiply-accumulates: those of all iterations of
// a loop, those of the costlier branch of an If. Returns false if a number of iterations is unknown.
bool AddBodies(const Graph& graph, const Node& node, OperationCosts& costs) {
  for (const Body& body : node.bodies()) {
    const std::optional<GraphCosts> inner = FindCosts(*body.graph);
    if (!inner) return false;
    costs.parameters = SaturatingAdd(costs.parameters, inner->parameters);
    costs.parameter_bytes = SaturatingAdd(costs.parameter_bytes, inner->parameter_bytes);
    costs.macs = std::max(costs.macs, inner->macs);
  }
  if (node.bodies().size() > 1 || costs.macs == 0) return true;
  const std::optional<int64_t> iterations = IterationsOf(graph, node);
  if (iterations) costs.macs *= static_cast<double>(*iterations);
  return iterations.has_value();
}

// Sets the multiply-accumulates of a node. Returns false if a shape or a number of iterations is unknown.
bool SetMacs(const Graph& graph, const Node& node, OperationCosts& costs) {
  if (!node.bodies().empty()) return AddBodies(graph, node, costs);
  if (node.info().products == nullptr) return true;
  std::vector<Shape> inputs, outputs;
  const auto append = [&](OutputPort port, std::vector<Shape>& shapes) {
    std::optional<Shape> extents = ExtentsOf(graph, port);
    if (extents) shapes.push_back(std::move(*extents));
    return extents.has_value();
  };
  for (const OutputPort port : node.inputs()) {
    if (!append(port, inputs)) return false;
  }
  for (int32_t i = 0; i < node.num_outputs(); ++i) {
    if (!append(node.port(i), outputs)) return false;
  }
  costs.macs = node.info().products(node, inputs, outputs);
  return true;
}

// Accumulates the costs of a graph in topological order.
class CostCounter {
 public:
  CostCounter(const Graph& graph, const std::vector<NodeId>& order) : graph_(graph) {
    for (const NodeId id : order) {
      for (const OutputPort port : graph.node(id).inputs()) last_user_[port.node] = id;
    }
  }

  // Returns false if a shape or a number of iterations is unknown.
  bool Add(const Node& node) {
    if (node.Is(OpRole::kResult)) {
      alive_ -= Release(node);
      return true;
    }
    if (!node.Is(OpRole::kParameter) &&
        llvm::all_of(node.inputs(), [&](OutputPort port) { return constants_.contains(port.node); })) {
      constants_.insert(node.id());
      return true;
    }
    OperationCosts costs{.node = node.id()};
    for (const Output& output : node.outputs()) {
      const std::optional<int64_t> bytes = BytesOf(output);
      if (!bytes) return false;
      costs.output_bytes = SaturatingAdd(costs.output_bytes, *bytes);
    }
    alive_ = SaturatingAdd(alive_, costs.output_bytes);
    if (alive_ > result_.peak_bytes) {
      result_.peak_bytes = alive_;
      result_.peak_node = node.id();
    }
    costs.alive_bytes = alive_;
    alive_bytes_[node.id()] = costs.output_bytes;
    alive_ -= Release(node);
    if (node.Is(OpRole::kParameter)) return true;
    if (!SetMacs(graph_, node, costs)) return false;
    AddConstants(node, costs);
    result_.parameters = SaturatingAdd(result_.parameters, costs.parameters);
    result_.parameter_bytes = SaturatingAdd(result_.parameter_bytes, costs.parameter_bytes);
    result_.macs += costs.macs;
    result_.output_bytes = SaturatingAdd(result_.output_bytes, costs.output_bytes);
    result_.operations.push_back(costs);
    return true;
  }

  GraphCosts Take() { return std::move(result_); }

 private:
  // Adds the constants that a node is the first to use.
  void AddConstants(const Node& user, OperationCosts& costs) {
    llvm::SmallVector<NodeId, 8> pending;
    const auto visit = [&](const Node& node) {
      for (const OutputPort port : node.inputs()) {
        if (constants_.contains(port.node) && is_used_.insert(port.node).second) pending.push_back(port.node);
      }
    };
    visit(user);
    while (!pending.empty()) {
      const Node& node = graph_.node(pending.pop_back_val());
      visit(node);
      if (!node.inputs().empty() || node.num_outputs() != 1 || !IsFloat(node.output().type)) continue;
      const int64_t volume = node.output().shape.volume().value_or(0);
      if (volume < 2) continue;
      costs.parameters = SaturatingAdd(costs.parameters, volume);
      costs.parameter_bytes = SaturatingAdd(costs.parameter_bytes, BytesOf(node.output()).value_or(0));
    }
  }

  // Returns the bytes that are not needed after a node: those of its inputs, and its own if nothing uses
  // them.
  int64_t Release(const Node& node) {
    int64_t bytes = 0;
    const auto release = [&](NodeId id) {
      const auto found = alive_bytes_.find(id);
      if (found == alive_bytes_.end()) return;
      bytes = SaturatingAdd(bytes, found->second);
      alive_bytes_.erase(found);
    };
    for (const OutputPort port : node.inputs()) {
      if (last_user_[port.node] == node.id()) release(port.node);
    }
    if (last_user_.count(node.id()) == 0) release(node.id());
    return bytes;
  }

  const Graph& graph_;
  llvm::DenseMap<NodeId, NodeId> last_user_;
  llvm::DenseSet<NodeId> constants_;  // nodes that depend on constants alone
  llvm::DenseSet<NodeId> is_used_;    // those of them that an operation uses
  llvm::DenseMap<NodeId, int64_t> alive_bytes_;
  int64_t alive_ = 0;
  GraphCosts result_;
};

}  // namespace

std::optional<GraphCosts> FindCosts(const Graph& graph) {
  const std::optional<std::vector<NodeId>> order = TopologicalOrder(graph);
  if (!order) return std::nullopt;
  CostCounter counter(graph, *order);
  for (const NodeId id : *order) {
    if (!counter.Add(graph.node(id))) return std::nullopt;
  }
  return counter.Take();
}

}  // namespace nnefc::ir::ops

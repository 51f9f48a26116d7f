// The order and the ids of layers in a written OpenVINO model.

#include "compiler/openvino/writing/layer_order.h"

#include <algorithm>
#include <map>

#include "fmt/core.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::openvino {

namespace {

std::vector<bool> LiveNodes(const ir::Graph& graph) {
  std::vector<bool> live(graph.node_bound(), false);
  std::vector<ir::NodeId> pending;
  const auto mark = [&](ir::NodeId id) {
    if (live[static_cast<size_t>(id.index)]) return;
    live[static_cast<size_t>(id.index)] = true;
    pending.push_back(id);
  };
  for (ir::NodeId id : graph.sinks()) mark(id);
  for (ir::NodeId id : graph.results()) mark(id);
  while (!pending.empty()) {
    const ir::NodeId id = pending.back();
    pending.pop_back();
    for (ir::OutputPort input : graph.node(id).inputs()) mark(input.node);
  }
  return live;
}

bool IsUsed(const ir::Node& node) {
  for (int32_t i = 0; i < node.num_outputs(); ++i) {
    if (!node.uses(i).empty()) return true;
  }
  return false;
}

}  // namespace

LayerOrder OrderLayers(const ir::Graph& graph) {
  const std::optional<std::vector<ir::NodeId>> topological = ir::TopologicalOrder(graph);
  NNEFC_CHECK(topological.has_value());
  // Nodes that are written before or after the operations.
  std::vector<bool> apart(graph.node_bound(), false);
  const auto set_apart = [&](ir::NodeId id) { apart[static_cast<size_t>(id.index)] = true; };
  std::vector<ir::NodeId> last;
  for (ir::NodeId id : graph.sinks()) {
    if (!IsUsed(graph.node(id))) last.push_back(id);
  }
  for (ir::NodeId id : graph.results()) last.push_back(id);
  for (ir::NodeId id : graph.parameters()) set_apart(id);
  for (ir::NodeId id : last) set_apart(id);

  LayerOrder order;
  order.layers.assign(graph.parameters().begin(), graph.parameters().end());
  const std::vector<bool> live = LiveNodes(graph);
  for (ir::NodeId id : *topological) {
    const auto index = static_cast<size_t>(id.index);
    if (live[index] && !apart[index]) order.layers.push_back(id);
  }
  order.layers.insert(order.layers.end(), last.begin(), last.end());
  order.ids.assign(graph.node_bound(), -1);
  for (size_t i = 0; i < order.layers.size(); ++i) {
    order.ids[static_cast<size_t>(order.layers[i].index)] = static_cast<int32_t>(i);
  }
  return order;
}

LayerInputs ListInputs(const ir::Node& node) {
  LayerInputs inputs;
  inputs.ports.assign(node.inputs().begin(), node.inputs().end());
  const bool may_repeat = node.Is(ir::OpRole::kIf);
  std::map<std::pair<int32_t, int32_t>, int32_t> copies;  // {input, occurrence} -> port
  for (const ir::Body& body : node.bodies()) {
    std::map<int32_t, int32_t> occurrences;
    std::vector<int32_t>& externals = inputs.externals.emplace_back();
    for (const ir::InputMapping& mapping : body.inputs) {
      const int32_t occurrence = occurrences[mapping.external]++;
      if (occurrence == 0 || !may_repeat) {
        externals.push_back(mapping.external);
        continue;
      }
      const auto [copy, is_new] =
          copies.try_emplace({mapping.external, occurrence}, static_cast<int32_t>(inputs.ports.size()));
      if (is_new) inputs.ports.push_back(node.input(mapping.external));
      externals.push_back(copy->second);
    }
  }
  return inputs;
}

std::string LayerName(const ir::Node& node, int32_t id) {
  return node.name().empty() ? fmt::format("{}_{}", node.type(), id) : node.name();
}

std::vector<std::string> TensorNames(const ir::Graph& graph, ir::OutputPort port, const LayerOrder* order) {
  const ir::Node& node = graph.node(port.node);
  std::vector<std::string> names = node.output(port.index).names;
  llvm::erase_if(names, [](const std::string& name) { return name.empty(); });
  const auto layer_name = [&](const ir::Node& layer) {
    return LayerName(layer, order->ids[static_cast<size_t>(layer.id().index)]);
  };
  if (order != nullptr && names.empty() && node.Is(ir::OpRole::kParameter)) names.push_back(layer_name(node));
  if (order != nullptr && names.empty()) {
    for (ir::InputPort use : node.uses(port.index)) {
      const ir::Node& user = graph.node(use.node);
      if (user.Is(ir::OpRole::kResult)) names.push_back(layer_name(user));
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace nnefc::openvino

// Access to the nodes of matched sub-graphs, and their removal.

#include "compiler/transform/configuration/sub_graph.h"

#include "compiler/transform/scoped_names.h"
#include "llvm/ADT/DenseSet.h"

namespace nnefc::transform {

Node NodeOf(const SubGraph& nodes, const std::string& alias) {
  const auto found = nodes.find(alias);
  if (found != nodes.end()) return found->second;
  std::string known;
  for (const auto& [name, node] : nodes) known += fmt::format("{}`{}`", known.empty() ? "" : ", ", name);
  throw Error("there is no new node `{}`; there are {}", alias, known.empty() ? "none" : known);
}

void RemoveNodes(Graph& graph, const std::vector<Node>& nodes) {
  llvm::DenseSet<int32_t> left;
  std::vector<Node> open = nodes;
  for (const Node& node : nodes) left.insert(node.id().index);
  while (!open.empty()) {
    const Node node = open.back();
    open.pop_back();
    if (!left.count(node.id().index)) continue;
    bool is_used = false;
    for (const Port& port : node.out_ports()) is_used |= !port.IsDisconnected();
    if (is_used) continue;  // visited again after its consumers are removed
    std::vector<ir::NodeId> producers;
    for (ir::OutputPort input : node.ir().inputs()) producers.push_back(input.node);
    graph.Remove(node);
    left.erase(node.id().index);
    for (ir::NodeId producer : producers) {
      if (left.count(producer.index)) open.emplace_back(graph, producer);
    }
  }
  for (const Node& node : nodes) {
    // Literals may be shared with other parts of the model.
    if (left.count(node.id().index) == 0 || IsLiteral(node.ir())) continue;
    for (const Port& port : node.out_ports()) {
      for (const Port& use : port.GetDestinations()) {
        if (left.count(use.node().id().index) != 0) continue;
        throw Error("`{}` ({}) cannot be removed: `{}` ({}) reads its output {}", node.name(), node.op(),
                    use.node().name(), use.node().op(), port.index());
      }
    }
  }
}

}  // namespace nnefc::transform

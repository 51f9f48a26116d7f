// Transformations that act on entries of a configuration file.

#include "compiler/transform/configuration/configured.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform {
namespace {

// Returns true if every node is reachable from the first by edges between them.
bool IsConnected(const std::vector<Node>& nodes) {
  llvm::DenseSet<int32_t> left;
  for (const Node& node : nodes) left.insert(node.id().index);
  std::vector<ir::NodeId> open;
  const auto reach = [&](ir::NodeId id) {
    if (left.erase(id.index)) open.push_back(id);
  };
  reach(nodes.front().id());
  const ir::Graph& graph = nodes.front().graph().ir();
  while (!open.empty()) {
    const ir::Node& node = graph.node(open.back());
    open.pop_back();
    for (ir::OutputPort input : node.inputs()) reach(input.node);
    for (int32_t i = 0; i < node.num_outputs(); ++i) {
      for (ir::InputPort use : node.uses(i)) reach(use.node);
    }
  }
  return left.empty();
}

}  // namespace

// ---- FrontReplacementFromConfigFile ----

void FrontReplacementFromConfigFile::Configure(const std::shared_ptr<const Configuration>& configuration) {
  configuration_ = configuration;
  descriptions_ = configuration->Find(replacement_id_);
}

// ---- FrontReplacementFromConfigFileSubGraph ----

void FrontReplacementFromConfigFileSubGraph::FindAndReplacePattern(Graph& graph) {
  if (descriptions().empty()) return;
  const ScopedNames names(graph.ir());
  std::vector<SubgraphMatch> matches;
  for (const ReplacementDescription* description : descriptions()) {
    if (description->kind == MatchKind::kGeneral)
      throw Mismatch(
          "the entry `{}` is of `match_kind` `general`; this transformation needs `scope` or `points`",
          replacement_id());
    std::string reasons;
    const std::vector<SubgraphMatch> found =
        FindInstances(graph, names, *description, [&](const std::string& reason) {
          log(reason);
          reasons += (reasons.empty() ? ": " : "; ") + reason;
        });
    if (found.empty())
      warn(fmt::format("no instance of the entry `{}` is in the model{}", replacement_id(), reasons));
    matches.insert(matches.end(), found.begin(), found.end());
  }
  for (const SubgraphMatch& match : matches) {
    if (!match.exists()) {
      warn("a match was left out: an earlier replacement removed a node of it");
      continue;
    }
    if (!IsConnected(match.nodes()))
      warn(fmt::format("the nodes of {} are not connected with each other",
                       match.scope().empty() ? "the points" : fmt::format("the scope `{}`", match.scope())));
    ReplaceSubGraph(graph, match);
  }
}

void FrontReplacementFromConfigFileSubGraph::ReplaceSubGraph(Graph& graph, const SubgraphMatch& match) {
  const SubGraph made = GenerateSubGraph(graph, match);
  for (const auto& [number, port] : InputEdgesMatch(graph, match, made))
    NodeOf(made, port.first).in_port(port.second).Connect(match.source(number));
  std::vector<std::pair<Port, Port>> outputs;
  for (const auto& [number, port] : OutputEdgesMatch(graph, match, made)) {
    const Port old_port = match.output_node(number);
    const Node made_node = NodeOf(made, port.first);
    const Port made_port = made_node.out_port(port.second);
    // Operations without a shape function inherit the type and shape of the output that they replace.
    if (made_node.ir().info().infer == nullptr)
      graph.SetType(made_port, old_port.data().type, old_port.shape());
    outputs.emplace_back(old_port, made_port);
  }
  graph.TakeOutputs(outputs);
  RemoveNodes(graph, NodesToRemove(graph, match));
}

SubGraph FrontReplacementFromConfigFileSubGraph::GenerateSubGraph(Graph&, const SubgraphMatch&) {
  throw Error("{} overrides neither ReplaceSubGraph nor GenerateSubGraph", class_name());
}

std::map<size_t, PortName> FrontReplacementFromConfigFileSubGraph::InputEdgesMatch(Graph&,
                                                                                   const SubgraphMatch&,
                                                                                   const SubGraph&) {
  return {};
}

std::map<size_t, PortName> FrontReplacementFromConfigFileSubGraph::OutputEdgesMatch(Graph&,
                                                                                    const SubgraphMatch&,
                                                                                    const SubGraph&) {
  return {};
}

std::vector<Node> FrontReplacementFromConfigFileSubGraph::NodesToRemove(Graph&, const SubgraphMatch& match) {
  std::vector<Node> nodes = match.nodes();
  llvm::erase_if(nodes, [](const Node& node) { return node.ir().Is(ir::OpRole::kResult); });
  return nodes;
}

// ---- FrontReplacementFromConfigFileOp ----

SubGraph FrontReplacementFromConfigFileOp::GenerateSubGraph(Graph& graph, const SubgraphMatch& match) {
  if (match.outputs_count() == 0)
    throw Mismatch(
        "the entry `{}` names no output of `{}`; `--custom-operations-config-update` fills inputs and "
        "outputs",
        replacement_id(), match.scope());
  std::vector<Port> sources;
  for (size_t i = 0; i < match.inputs_count(); ++i) sources.push_back(match.source(i));
  const Node& last = match.nodes().back();
  return {{"op", graph.CreateNode(match.description().op, sources,
                                  {.attributes = match.custom_attributes(),
                                   .num_outputs = static_cast<int32_t>(match.outputs_count()),
                                   .origin = last.ir().origin()})}};
}

std::map<size_t, PortName> FrontReplacementFromConfigFileOp::OutputEdgesMatch(Graph&,
                                                                              const SubgraphMatch& match,
                                                                              const SubGraph&) {
  std::map<size_t, PortName> ports;
  for (size_t i = 0; i < match.outputs_count(); ++i) ports[i] = {"op", static_cast<int32_t>(i)};
  return ports;
}

// ---- FrontReplacementFromConfigFileGeneral ----

void FrontReplacementFromConfigFileGeneral::FindAndReplacePattern(Graph& graph) {
  for (const ReplacementDescription* description : descriptions()) {
    if (description->kind != MatchKind::kGeneral)
      throw Mismatch("the entry `{}` is of `match_kind` `{}`; this transformation needs `general`",
                     replacement_id(), Name(description->kind));
    TransformEntry(graph, *description);
  }
}

void FrontReplacementFromConfigFileGeneral::TransformEntry(Graph& graph,
                                                           const ReplacementDescription& entry) {
  TransformGraph(graph, entry.custom_attributes);
}

void FrontReplacementFromConfigFileGeneral::TransformGraph(Graph&, const ir::AttributeMap&) {
  throw Error("{} overrides neither TransformGraph nor TransformEntry", class_name());
}

}  // namespace nnefc::transform

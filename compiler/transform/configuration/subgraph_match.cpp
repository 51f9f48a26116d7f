// Sub-graphs selected by configuration entries.

#include "compiler/transform/configuration/subgraph_match.h"

#include <regex>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform {
namespace {

using NodeSet = llvm::DenseSet<int32_t>;

// The maximum length of a matched prefix, since the recursion of std::regex grows with the text.
constexpr size_t kMaxCharacters = 4096;

bool Begins(const std::string& name, const std::regex& expression) {
  const auto size = static_cast<std::ptrdiff_t>(std::min(name.size(), kMaxCharacters));
  return std::regex_search(name.begin(), name.begin() + size, expression,
                           std::regex_constants::match_continuous);
}

// Returns an expression for a node of a scope: the scope's expression followed by the node's.
std::regex Within(const std::string& scope, std::string_view pattern) {
  return std::regex(fmt::format("(?:{})/{}", scope, pattern));
}

std::string Described(const Node& node) {
  return fmt::format("`{}` ({}.{})", node.name(), node.ir().set(), node.op());
}

// A search for the instances of a scope.
class ScopeFinder {
 public:
  ScopeFinder(Graph& graph, const ScopedNames& names, const ReplacementDescription& description,
              const std::function<void(const std::string&)>& log)
      : graph_(graph), names_(names), description_(description), log_(log) {}

  std::vector<SubgraphMatch> Find() {
    std::vector<SubgraphMatch> found;
    if (!HasInputs()) return found;
    for (const std::string& scope : description_.scopes) {
      const std::vector<ir::NodeId> nodes = NodesOfScope(names_, scope);
      if (nodes.empty()) {
        log_(fmt::format("no name of a node begins as `{}` says", scope));
        continue;
      }
      SubgraphMatch::Parts parts{.scope = scope};
      for (ir::NodeId id : nodes) {
        parts.nodes.emplace_back(graph_, id);
        parts.names.push_back(names_.Of(id));
      }
      for (const std::vector<NodePort>& input : description_.inputs)
        parts.inputs.push_back(Inputs(parts, input));
      for (const NodePort& output : description_.outputs) {
        const std::optional<Node> node = Only(parts, output.node);
        if (!node) continue;
        CheckPort(*node, "output", output.port, node->num_out_ports());
        parts.outputs.push_back(node->out_port(output.port));
      }
      found.emplace_back(description_, std::move(parts));
    }
    return found;
  }

 private:
  // Returns false if the pattern of an input matches no node of the graph.
  bool HasInputs() {
    for (const std::vector<NodePort>& input : description_.inputs) {
      for (const NodePort& port : input) {
        const std::regex expression(".*" + port.node);
        const bool fits = llvm::any_of(names_.operations(),
                                       [&](ir::NodeId id) { return Begins(names_.Of(id), expression); });
        if (fits) continue;
        log_(fmt::format("no node fits the input `{}`", port.node));
        return false;
      }
    }
    return true;
  }

  std::vector<Port> Inputs(const SubgraphMatch::Parts& parts, const std::vector<NodePort>& patterns) {
    std::vector<Port> ports;
    for (const NodePort& pattern : patterns) {
      const std::optional<Node> node = Only(parts, pattern.node);
      if (!node) continue;
      CheckPort(*node, "input", pattern.port, node->num_in_ports());
      ports.push_back(node->in_port(pattern.port));
    }
    return ports;
  }

  std::optional<Node> Only(const SubgraphMatch::Parts& parts, const std::string& pattern) {
    const std::regex expression = Within(parts.scope, pattern);
    std::optional<size_t> found;
    for (size_t i = 0; i < parts.nodes.size(); ++i) {
      if (!Begins(parts.names[i], expression)) continue;
      if (found)
        throw Mismatch("`{}` fits `{}` and `{}` of the scope `{}`; it must fit one node", pattern,
                       parts.names[*found], parts.names[i], parts.scope);
      found = i;
    }
    if (found) return parts.nodes[*found];
    log_(fmt::format("`{}` fits no node of the scope `{}`", pattern, parts.scope));
    return std::nullopt;
  }

  static void CheckPort(const Node& node, std::string_view what, int32_t port, int32_t count) {
    if (port >= count) throw Mismatch("{} has no {} {}; it has {}", Described(node), what, port, count);
  }

  Graph& graph_;
  const ScopedNames& names_;
  const ReplacementDescription& description_;
  const std::function<void(const std::string&)>& log_;
};

// A search for the nodes between points.
class PointsFinder {
 public:
  PointsFinder(Graph& graph, const ScopedNames& names, const ReplacementDescription& description)
      : graph_(graph), ir_(graph.ir()), names_(names), description_(description) {}

  std::vector<SubgraphMatch> Find(const std::function<void(const std::string&)>& log) {
    for (const auto& [points, nodes] :
         {std::pair(&description_.start_points, &starts_), std::pair(&description_.end_points, &ends_)}) {
      for (const std::string& name : *points) {
        const ir::NodeId node = names_.Find(name);
        if (node.valid() && ir_.Contains(node)) {
          nodes->push_back(node);
          continue;
        }
        log(fmt::format("there is no node `{}`", name));
        return {};
      }
    }
    SubgraphMatch::Parts parts;
    for (ir::NodeId start : starts_) {
      const Node node(graph_, start);
      if (node.num_in_ports() != 1)
        throw Mismatch("the start point {} has {}", Described(node), ListInputs(node));
      parts.inputs.push_back({node.in_port(0)});
    }
    for (ir::NodeId end : ends_) parts.outputs.push_back(Node(graph_, end).out_port(0));
    for (ir::NodeId id : Between()) {
      parts.nodes.emplace_back(graph_, id);
      parts.names.push_back(names_.Of(id));
    }
    return {SubgraphMatch(description_, std::move(parts))};
  }

 private:
  std::string ListInputs(const Node& node) const {
    std::string inputs;
    for (ir::OutputPort input : node.ir().inputs())
      inputs += fmt::format("{}`{}`", inputs.empty() ? ": " : ", ", names_.Of(input.node));
    return fmt::format("{} inputs{}; it must have one", node.num_in_ports(), inputs);
  }

  // Returns the nodes reachable from the start points up to the end points, then all nodes that feed these,
  // except those that feed a start point.
  std::vector<ir::NodeId> Between() {
    NodeSet inside = Reach(starts_, [&](ir::NodeId id, auto& next) {
      if (llvm::is_contained(ends_, id)) return;
      for (int32_t i = 0; i < ir_.node(id).num_outputs(); ++i) {
        for (ir::InputPort use : ir_.node(id).uses(i)) next.push_back(use.node);
      }
    });
    for (ir::NodeId end : ends_) {
      if (!inside.count(end.index))
        throw Mismatch("the end point {} is not reachable from the start points{}",
                       Described(Node(graph_, end)),
                       ends_.size() > 1 ? " without another end point between" : "");
    }
    std::vector<ir::NodeId> from;
    for (int32_t index : inside) from.emplace_back(index);
    inside = Reach(from, [&](ir::NodeId id, auto& next) {
      if (llvm::is_contained(starts_, id)) return;
      for (ir::OutputPort input : ir_.node(id).inputs()) next.push_back(input.node);
    });
    std::vector<ir::NodeId> nodes;
    for (ir::NodeId id : names_.nodes()) {
      if (!inside.count(id.index)) continue;
      nodes.push_back(id);
      const ir::Node& node = ir_.node(id);
      if (node.Is(ir::OpRole::kParameter) || node.Is(ir::OpRole::kExternal))
        throw Mismatch("the sub-graph contains {}, an input of the model; let a start point stand between",
                       Described(Node(graph_, id)));
    }
    return nodes;
  }

  template <typename Step>
  NodeSet Reach(std::vector<ir::NodeId> open, Step step) const {
    NodeSet seen;
    for (ir::NodeId id : open) seen.insert(id.index);
    while (!open.empty()) {
      const ir::NodeId id = open.back();
      open.pop_back();
      llvm::SmallVector<ir::NodeId, 8> next;
      step(id, next);
      for (ir::NodeId reached : next) {
        if (seen.insert(reached.index).second) open.push_back(reached);
      }
    }
    return seen;
  }

  Graph& graph_;
  const ir::Graph& ir_;
  const ScopedNames& names_;
  const ReplacementDescription& description_;
  std::vector<ir::NodeId> starts_;
  std::vector<ir::NodeId> ends_;
};

}  // namespace

// ---- SubgraphMatch ----

const std::vector<Port>& SubgraphMatch::input_nodes(size_t number) const {
  if (number < inputs_count()) return parts_.inputs[number];
  throw Error("input {} of the match is asked for; it has {}", number, inputs_count());
}

Port SubgraphMatch::single_input_node(size_t number) const {
  const std::vector<Port>& ports = input_nodes(number);
  if (ports.size() == 1) return ports.front();
  throw Error("input {} of the match is read by {} nodes; expected one", number, ports.size());
}

Port SubgraphMatch::source(size_t number) const {
  const std::vector<Port>& ports = input_nodes(number);
  if (ports.empty()) throw Mismatch("no node of `{}` fits input {}", scope(), number);
  const Port source = ports.front().GetSource();
  for (const Port& port : ports) {
    if (!(port.GetSource() == source))
      throw Mismatch("input {} reads {} at {} and {} at {}; it must be one tensor", number,
                     Described(source.node()), Described(ports.front().node()),
                     Described(port.GetSource().node()), Described(port.node()));
  }
  return source;
}

Port SubgraphMatch::output_node(size_t number) const {
  if (number < outputs_count()) return parts_.outputs[number];
  throw Error("output {} of the match is asked for; it has {}", number, outputs_count());
}

std::optional<Node> SubgraphMatch::NodeByPattern(std::string_view pattern) const {
  const std::regex expression = scope().empty() ? std::regex(std::string(pattern)) : Within(scope(), pattern);
  std::optional<size_t> found;
  for (size_t i = 0; i < parts_.names.size(); ++i) {
    if (!Begins(parts_.names[i], expression)) continue;
    if (found)
      throw Error("`{}` fits `{}` and `{}` of the match", pattern, parts_.names[*found], parts_.names[i]);
    found = i;
  }
  if (!found) return std::nullopt;
  return parts_.nodes[*found];
}

bool SubgraphMatch::exists() const {
  return llvm::all_of(parts_.nodes, [](const Node& node) { return node.exists(); });
}

// ---- FindInstances ----

std::vector<ir::NodeId> NodesOfScope(const ScopedNames& names, const std::string& scope) {
  const std::regex expression(scope);
  std::vector<ir::NodeId> nodes;
  for (ir::NodeId id : names.operations()) {
    if (Begins(names.Of(id), expression)) nodes.push_back(id);
  }
  return nodes;
}

std::vector<SubgraphMatch> FindInstances(Graph& graph, const ScopedNames& names,
                                         const ReplacementDescription& description,
                                         const std::function<void(const std::string&)>& log) {
  switch (description.kind) {
    case MatchKind::kScope:
      return ScopeFinder(graph, names, description, log).Find();
    case MatchKind::kPoints:
      return PointsFinder(graph, names, description).Find(log);
    case MatchKind::kGeneral:
      break;
  }
  throw Error("the entry `{}` of `match_kind` `general` names no sub-graph", description.id);
}

}  // namespace nnefc::transform

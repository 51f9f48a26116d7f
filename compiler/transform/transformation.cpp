// The base class of transformations.

#include "compiler/transform/transformation.h"

#include <cxxabi.h>

#include <cstdlib>

#include "compiler/transform/guard.h"
#include "fmt/core.h"

namespace nnefc::transform {

std::string_view Name(Phase phase) {
  switch (phase) {
    case Phase::kLoad:
      return "load";
    case Phase::kFront:
      return "front";
    case Phase::kMiddle:
      return "middle";
    case Phase::kBack:
      return "back";
    case Phase::kTarget:
      return "target";
  }
  return "";
}

std::string ClassName(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
  std::string name = status == 0 ? demangled.get() : type.name();
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  for (size_t at = name.find(kUnnamed); at != std::string::npos; at = name.find(kUnnamed))
    name.erase(at, kUnnamed.size());
  return name;
}

std::string Called(const Transformation& transformation) {
  const std::string& plugin = transformation.plugin;
  return fmt::format("transformation `{}`{}", transformation.name(),
                     plugin.empty() ? "" : fmt::format(" of the plug-in `{}`", plugin));
}

void ApplyPattern(Graph& graph, const Pattern& pattern, const std::function<void(const Match&)>& replace,
                  const std::function<void(const std::string&)>& warn) {
  for (const PatternNode& node : pattern.nodes) {
    if (node.op.empty() || !graph.ir().registry().FindNamed(node.op).empty()) continue;
    warn(fmt::format("`{}` of the pattern matches nothing: there is no operation `{}`", node.alias, node.op));
  }
  size_t lost = 0;
  for (const Match& match : FindMatches(graph, pattern)) {
    if (match.exists()) {
      replace(match);
    } else {
      ++lost;
    }
  }
  if (lost > 0) {
    warn(fmt::format("{} left out: an earlier replacement removed a node of {}",
                     lost == 1 ? "a match was" : fmt::format("{} matches were", lost),
                     lost == 1 ? "it" : "each"));
  }
}

// ---- PatternTransformation ----

void PatternTransformation::FindAndReplacePattern(Graph& graph) {
  ApplyPattern(
      graph, GetPattern(), [&](const Match& match) { ReplacePattern(graph, match); }, warn);
}

Pattern PatternTransformation::GetPattern() const {
  throw Error("{} overrides neither FindAndReplacePattern nor GetPattern", class_name());
}

void PatternTransformation::ReplacePattern(Graph&, const Match&) {
  throw Error("{} has a pattern and does not override ReplacePattern", class_name());
}

// ---- FrontReplacementSubgraph ----

void FrontReplacementSubgraph::ReplaceSubGraph(Graph& graph, const Match& match) {
  const SubGraph made = GenerateSubGraph(graph, match);
  for (const auto& [old_port, new_port] : InputEdgesMatch(graph, match, made)) {
    Port input = NodeOf(made, new_port.first).in_port(new_port.second);
    input.Connect(match.at(old_port.first).in_port(old_port.second).GetSource());
  }
  std::vector<std::pair<Port, Port>> outputs;
  for (const auto& [old_port, new_port] : OutputEdgesMatch(graph, match, made)) {
    outputs.emplace_back(match.at(old_port.first).out_port(old_port.second),
                         NodeOf(made, new_port.first).out_port(new_port.second));
  }
  graph.TakeOutputs(outputs);
  std::vector<Node> removed;
  for (const std::string& alias : NodesToRemove(graph, match)) removed.push_back(match.at(alias));
  RemoveNodes(graph, removed);
}

SubGraph FrontReplacementSubgraph::GenerateSubGraph(Graph&, const Match&) {
  throw Error("{} overrides neither ReplaceSubGraph nor GenerateSubGraph", class_name());
}

std::map<PortName, PortName> FrontReplacementSubgraph::InputEdgesMatch(Graph&, const Match&,
                                                                       const SubGraph&) {
  return {};
}

std::map<PortName, PortName> FrontReplacementSubgraph::OutputEdgesMatch(Graph&, const Match&,
                                                                        const SubGraph&) {
  return {};
}

std::vector<std::string> FrontReplacementSubgraph::NodesToRemove(Graph&, const Match& match) {
  std::vector<std::string> aliases;
  for (const auto& [alias, node] : match.nodes()) aliases.push_back(alias);
  return aliases;
}

// ---- FrontReplacementOp ----

Pattern FrontReplacementOp::GetPattern() const {
  return {.nodes = {Op("op", op_)}, .edges = {}};
}

std::vector<Node> FrontReplacementOp::ReplaceOp(Graph&, const Node&) {
  throw Error("{} overrides neither ReplaceOp nor ReplaceSubGraph", class_name());
}

void FrontReplacementOp::ReplaceSubGraph(Graph& graph, const Match& match) {
  const Node node = match.at("op");
  const std::vector<Node> replacements = ReplaceOp(graph, node);
  const bool is_one_for_all = replacements.size() == 1 && node.num_out_ports() > 1;
  for (const Port& output : node.out_ports()) {
    const auto index = static_cast<size_t>(output.index());
    Connection connection = output.GetConnection();
    if (is_one_for_all && output.index() < replacements.front().num_out_ports()) {
      connection.SetSource(replacements.front().out_port(output.index()));
    } else if (index < replacements.size()) {
      connection.SetSource(replacements[index].out_port(0));
    }
  }
  graph.Remove(node);
}

}  // namespace nnefc::transform

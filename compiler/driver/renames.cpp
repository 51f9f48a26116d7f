// New names of the inputs and outputs of a graph.

#include "compiler/driver/renames.h"

#include "compiler/driver/rules.h"
#include "compiler/support/diagnostics/suggest.h"
#include "fmt/ranges.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::driver {

const std::string& NewName(const Renames& renames, const std::string& name) {
  const auto found = llvm::find_if(renames, [&](const auto& rename) { return rename.first == name; });
  return found == renames.end() ? name : found->second;
}

namespace {

// The inputs and outputs of a graph: its parameters, then its results.
std::vector<ir::NodeId> PortsOf(const ir::Graph& graph) {
  std::vector<ir::NodeId> ports(graph.parameters().begin(), graph.parameters().end());
  ports.insert(ports.end(), graph.results().begin(), graph.results().end());
  return ports;
}

std::string Listed(const ir::Graph& graph, llvm::ArrayRef<ir::NodeId> ports) {
  std::vector<std::string> names;
  for (ir::NodeId id : ports) names.push_back(fmt::format("`{}`", graph.node(id).name()));
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

bool CheckNames(const ir::Graph& graph, const Renames& renames, Emitter& emitter) {
  const std::vector<ir::NodeId> ports = PortsOf(graph);
  bool are_known = true;
  for (const auto& [from, to] : renames) {
    if (llvm::any_of(ports, [&](ir::NodeId id) { return graph.node(id).name() == from; })) continue;
    are_known = false;
    Suggestion suggestion(from);
    for (ir::NodeId id : ports) suggestion.Offer(graph.node(id).name());
    emitter.Emit(kRenameUnknown, {}, "no input or output has the name `{}`{}; inputs: {}; outputs: {}", from,
                 suggestion.best().empty() ? "" : fmt::format("; did you mean `{}`?", suggestion.best()),
                 Listed(graph, graph.parameters()), Listed(graph, graph.results()));
  }
  if (!are_known) return false;
  llvm::StringMap<std::string> owners;  // the former name of the port that has a new name
  for (ir::NodeId id : ports) {
    const std::string& former = graph.node(id).name();
    const std::string& name = NewName(renames, former);
    const auto [owner, is_new] = owners.try_emplace(name, former);
    if (is_new || owner->second == former) continue;
    emitter.Emit(kRenameClash, {}, "`{}` would be the name of both `{}` and `{}`; inputs: {}; outputs: {}",
                 name, owner->second, former, Listed(graph, graph.parameters()),
                 Listed(graph, graph.results()));
    return false;
  }
  return true;
}

// Replaces the name `from` of a tensor by `to`, or adds `to`.
void RenameTensor(ir::Graph& graph, ir::OutputPort tensor, const std::string& from, const std::string& to) {
  std::vector<std::string> names = graph.output(tensor).names;
  const auto found = llvm::find(names, from);
  if (found == names.end()) {
    names.insert(names.begin(), to);
  } else {
    *found = to;
  }
  graph.SetOutputNames(tensor, std::move(names));
}

// Removes the new names from all tensors that have them.
void FreeNames(ir::Graph& graph, const Renames& renames) {
  for (ir::NodeId id : graph.nodes()) {
    for (int32_t i = 0; i < graph.node(id).num_outputs(); ++i) {
      std::vector<std::string> names = graph.node(id).output(i).names;
      const size_t count = names.size();
      llvm::erase_if(names, [&](const std::string& name) {
        return llvm::any_of(renames, [&](const auto& rename) { return rename.second == name; });
      });
      if (names.size() != count) graph.SetOutputNames({id, i}, std::move(names));
    }
  }
}

}  // namespace

bool RenamePorts(ir::Graph& graph, const Renames& renames, Emitter& emitter) {
  if (renames.empty()) return true;
  if (!CheckNames(graph, renames, emitter)) return false;
  FreeNames(graph, renames);
  for (ir::NodeId id : PortsOf(graph)) {
    const std::string from = graph.node(id).name(), to = NewName(renames, from);
    if (from == to) continue;
    graph.SetName(id, to);
    if (graph.node(id).Is(ir::OpRole::kParameter)) {
      RenameTensor(graph, {id, 0}, from, to);
      continue;
    }
    if (graph.node(id).attributes().Find("output_names") != nullptr)
      graph.SetAttribute(id, "output_names", ir::Attribute::Strings{to});
    const ir::OutputPort tensor = graph.node(id).input(0);
    if (!graph.node(tensor.node).Is(ir::OpRole::kParameter)) RenameTensor(graph, tensor, from, to);
  }
  return true;
}

}  // namespace nnefc::driver

// Names of nodes in configurations of transformations.

#include "compiler/transform/scoped_names.h"

#include <algorithm>

#include "fmt/core.h"
#include "llvm/ADT/DenseMap.h"

namespace nnefc::transform {
namespace {

// Returns a node's name without the prefix of its scope, such as `incept1_conv_`.
std::string_view LocalName(const ir::Node& node, const std::string& scope) {
  std::string flat = scope + '_';
  std::replace(flat.begin(), flat.end(), '/', '_');
  const std::string_view name = node.name();
  return name.size() > flat.size() && name.starts_with(flat) ? name.substr(flat.size()) : node.type();
}

}  // namespace

ScopedNames::ScopedNames(const ir::Graph& graph) : nodes_(graph.nodes()), names_(graph.node_bound()) {
  llvm::DenseMap<const ir::Frame*, std::string> scopes;
  llvm::StringMap<int> taken;
  for (ir::NodeId id : nodes_) {
    const ir::Node& node = graph.node(id);
    std::string name = node.name();
    std::string& kept = names_[static_cast<size_t>(id.index)];
    if (node.Is(ir::OpRole::kResult)) {
      kept = std::move(name);
      continue;
    }
    operations_.push_back(id);
    if (const ir::Frame* frame = node.origin().frame.get()) {
      std::string& scope = scopes[frame];
      if (scope.empty()) scope = ir::ScopeName(node.origin());
      name = fmt::format("{}/{}", scope, LocalName(node, scope));
    } else if (name.empty()) {
      name = node.type();
    }
    const int count = ++taken[name];
    // Names of the model are unchanged; a generated name must not denote two nodes.
    if (count > 1 && name != node.name()) name += fmt::format("_{}", count);
    by_name_.try_emplace(name, id);
    kept = std::move(name);
  }
  for (ir::NodeId id : operations_) by_name_.try_emplace(graph.node(id).name(), id);
}

ir::NodeId ScopedNames::Find(std::string_view name) const {
  const auto found = by_name_.find(llvm::StringRef(name.data(), name.size()));
  return found == by_name_.end() ? ir::NodeId() : found->second;
}

bool IsLiteral(const ir::Node& node) {
  return node.Is(ir::OpRole::kConstant) && node.name().empty();
}

}  // namespace nnefc::transform

// Completion of configuration entries by the inputs and outputs of their scopes.

#include "compiler/transform/configuration/update_configuration.h"

#include <map>
#include <regex>

#include "compiler/transform/configuration/configuration.h"
#include "compiler/transform/configuration/subgraph_match.h"
#include "compiler/transform/rules.h"
#include "compiler/transform/scoped_names.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "nlohmann/json.hpp"

namespace nnefc::transform {
namespace {

// Escapes the special characters of regular expressions.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

class Updater {
 public:
  Updater(const ir::Graph& graph, const ScopedNames& names, ReplacementDescription& entry, Emitter& emitter)
      : graph_(graph), names_(names), entry_(entry), emitter_(emitter) {}

  // Adds inputs and outputs; returns false on errors.
  bool Run(bool wants_inputs, bool wants_outputs) {
    for (const std::string& scope : entry_.scopes) {
      instances_.push_back(NodesOfScope(names_, scope));
      if (instances_.back().empty())
        return Fail("no name of a node begins as the instance `{}` of the entry `{}` says", scope, entry_.id);
    }
    for (ir::NodeId id : instances_.front()) inside_.insert(id.index);
    return (!wants_inputs || FindInputs()) && (!wants_outputs || FindOutputs());
  }

 private:
  template <typename... Args>
  bool Fail(fmt::format_string<Args...> format, Args&&... args) {
    emitter_.Emit(kMismatch, entry_.range, "{}", fmt::format(format, std::forward<Args>(args)...));
    return false;
  }

  bool FindInputs() {
    std::map<std::pair<int32_t, int32_t>, std::vector<NodePort>> readers;
    for (ir::NodeId id : instances_.front()) {
      const ir::Node& node = graph_.node(id);
      for (int32_t i = 0; i < node.num_inputs(); ++i) {
        const ir::OutputPort source = node.input(i);
        if (inside_.count(source.node.index) || IsLiteral(graph_.node(source.node))) continue;
        const std::optional<std::string> pattern = Pattern(id);
        if (!pattern) return false;
        readers[{source.node.index, source.index}].push_back({*pattern, i});
      }
    }
    for (auto& [source, ports] : readers) {
      llvm::sort(ports);
      entry_.inputs.push_back(std::move(ports));
    }
    llvm::sort(entry_.inputs);
    return true;
  }

  bool FindOutputs() {
    for (ir::NodeId id : instances_.front()) {
      const ir::Node& node = graph_.node(id);
      if (IsLiteral(node)) continue;
      bool is_read = false;
      for (int32_t i = 0; i < node.num_outputs(); ++i) {
        is_read |= !node.uses(i).empty();
        const bool leaves =
            llvm::any_of(node.uses(i), [&](ir::InputPort use) { return !inside_.count(use.node.index); });
        if (leaves && !AddOutput(id, i)) return false;
      }
      const bool is_constant = node.Is(ir::OpRole::kConst) || node.Is(ir::OpRole::kConstant);
      if (!is_read && !is_constant && node.num_outputs() > 0 && !AddOutput(id, 0)) return false;
    }
    llvm::sort(entry_.outputs);
    return true;
  }

  bool AddOutput(ir::NodeId node, int32_t port) {
    const std::optional<std::string> pattern = Pattern(node);
    if (pattern) entry_.outputs.push_back({*pattern, port});
    return pattern.has_value();
  }

  // Returns an expression for the part of a node's name after the scope.
  std::optional<std::string> Pattern(ir::NodeId id) {
    const std::string& name = names_.Of(id);
    const std::string& scope = entry_.scopes.front();
    std::smatch prefix;
    if (!std::regex_search(name, prefix, std::regex(fmt::format("(?:{})/", scope)),
                           std::regex_constants::match_continuous)) {
      Fail("the instance `{}` of the entry `{}` does not end in front of a `/` of `{}`", scope, entry_.id,
           name);
      return std::nullopt;
    }
    std::string pattern = Escaped(std::string_view(name).substr(static_cast<size_t>(prefix.length()))) + '$';
    for (size_t i = 0; i < instances_.size(); ++i) {
      const std::regex exact(fmt::format("(?:{})/{}", entry_.scopes[i], pattern));
      const auto count = llvm::count_if(instances_[i], [&](ir::NodeId node) {
        return std::regex_search(names_.Of(node), exact, std::regex_constants::match_continuous);
      });
      if (count == 1) continue;
      Fail("the instance `{}` of the entry `{}` has {} nodes `{}`; expected one, as `{}` has",
           entry_.scopes[i], entry_.id, count == 0 ? "no" : std::to_string(count), pattern, scope);
      return std::nullopt;
    }
    return pattern;
  }

  const ir::Graph& graph_;
  const ScopedNames& names_;
  ReplacementDescription& entry_;
  Emitter& emitter_;
  std::vector<std::vector<ir::NodeId>> instances_;
  llvm::DenseSet<int32_t> inside_;
};

nlohmann::json ToJson(const NodePort& port) {
  return {{"node", port.node}, {"port", port.port}};
}

nlohmann::json ToJson(const std::vector<NodePort>& ports) {
  nlohmann::json list = nlohmann::json::array();
  for (const NodePort& port : ports) list.push_back(ToJson(port));
  return list;
}

}  // namespace

std::optional<std::string> UpdateConfiguration(const ir::Graph& graph, FileId file, Context& context) {
  std::optional<Configuration> configuration = ReadConfiguration(file, context);
  if (!configuration) return std::nullopt;
  const ScopedNames names(graph);
  nlohmann::json json = nlohmann::json::parse(context.sources.Text(file));
  for (size_t i = 0; i < configuration->entries.size(); ++i) {
    ReplacementDescription& entry = configuration->entries[i];
    if (entry.kind != MatchKind::kScope) continue;
    const bool wants_inputs = !json[i].contains("inputs");
    const bool wants_outputs = !json[i].contains("outputs");
    if (!Updater(graph, names, entry, context.emitter).Run(wants_inputs, wants_outputs)) return std::nullopt;
    if (wants_inputs) {
      json[i]["inputs"] = nlohmann::json::array();
      for (const std::vector<NodePort>& input : entry.inputs) json[i]["inputs"].push_back(ToJson(input));
    }
    if (wants_outputs) json[i]["outputs"] = ToJson(entry.outputs);
  }
  return json.dump(4) + '\n';
}

}  // namespace nnefc::transform

// Labels of variables: the variables that share one, its characters, and the labels of a ratified document.

#include <algorithm>
#include <map>
#include <set>

#include "compiler/ir/ops/register.h"
#include "compiler/ir/ops/rules.h"
#include "compiler/ir/ops/variables.h"
#include "compiler/support/files/contained_path.h"
#include "fmt/core.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace nnefc::ir::ops {

namespace {

constexpr std::string_view kSuffix = ".dat";

// Calls `use` with each variable that has a label, and whether it is in a body. Recursion follows the nesting
// of bodies, bounded by expansion.
void ForEachVariable(const Graph& graph, llvm::function_ref<void(const Node&, bool)> use,
                     bool is_body = false) {
  for (NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    const Attribute* label = node.Is(OpRole::kVariable) ? node.attributes().Find("label") : nullptr;
    if (label != nullptr && label->get<std::string>() != nullptr) use(node, is_body);
    for (const Body& body : node.bodies()) ForEachVariable(*body.graph, use, true);
  }
}

// Labels in use, regardless of case, with the files and folders that they name.
class LabelsInUse {
 public:
  // Uses a label, unless its file would be another label's file or folder, or the reverse.
  bool Use(std::string_view label) {
    const std::string text = llvm::StringRef(label).lower();
    const std::string file = LabelPath(text).value_or(text) + std::string(kSuffix);
    if (files_.contains(file) || folders_.contains(file) || NeedsFileAsFolder(text)) return false;
    files_.insert(file);
    ForEachFolder(file, [&](std::string_view folder) { folders_.insert(folder); });
    return true;
  }

  // Returns true if the label is in a folder with the name of another label's file, or of a text.
  bool NeedsFileAsFolder(std::string_view label) const {
    const std::string path = LabelPath(llvm::StringRef(label).lower()).value_or("");
    bool is_file = false;
    ForEachFolder(path, [&](std::string_view folder) {
      is_file |= files_.contains(folder) || folder == "graph.nnef" || folder == "graph.quant";
    });
    return is_file;
  }

 private:
  static void ForEachFolder(std::string_view path, llvm::function_ref<void(std::string_view)> use) {
    for (size_t i = 0; i < path.size(); ++i) {
      if (path[i] == '/') use(path.substr(0, i));
    }
  }

  llvm::StringSet<> files_, folders_;
};

}  // namespace

bool CheckLabelCharacters(const Graph& graph, Emitter& emitter,
                          llvm::function_ref<VariablePlace(NodeId)> place) {
  struct Wrong {
    const Node* variable;  // the first one
    bool is_fixable = true;
    std::map<std::pair<uint32_t, uint32_t>, SourceRange> literals;  // key: first and last byte
  };
  std::vector<Wrong> wrong;
  llvm::StringMap<size_t> indices;  // key: VariableKey
  ForEachVariable(graph, [&](const Node& variable, bool is_body) {
    if (HasExactLabel(variable) || llvm::all_of(variable.String("label"), IsLabelCharacter)) return;
    const auto [entry, is_new] = indices.try_emplace(VariableKey(variable), wrong.size());
    if (is_new) wrong.push_back({.variable = &variable, .literals = {}});
    Wrong& label = wrong[entry->second];
    const VariablePlace at = is_body ? VariablePlace() : place(variable.id());
    label.is_fixable &= at.is_literal;
    label.literals.emplace(std::pair(at.range.begin, at.range.end), at.range);
  });
  if (wrong.empty()) return true;
  const RatifiedLabels labels(graph);
  for (const Wrong& label : wrong) {
    const Node& variable = *label.variable;
    const char c = *llvm::find_if_not(variable.String("label"), IsLabelCharacter);
    const auto code = static_cast<unsigned>(static_cast<unsigned char>(c));
    const bool is_printable = code >= 0x20 && code < 0x7f;
    const SourceRange range = label.literals.begin()->second;
    DiagnosticBuilder builder =
        emitter.Emit(kVariableLabel, range.valid() ? range : variable.origin().range,
                     "`label` of `variable` contains {}; expected letters, digits, `_`, `-`, `.`, `/`, `\\`",
                     is_printable ? fmt::format("`{}`", c) : fmt::format("the byte 0x{:02x}", code));
    for (const auto& [bytes, literal] : label.literals) {
      if (label.is_fixable) builder.Fix(literal, LabelLiteral(labels.Of(variable)));
    }
    builder.Notes(StackNotes(variable.origin().frame));
  }
  return false;
}

bool IsLabelCharacter(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '-' || c == '.' || c == '/' || c == '\\';
}

std::string LabelLiteral(std::string_view label) {
  std::string quoted = "'";
  for (char c : label) {
    if (c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '\'';
}

bool HasExactLabel(const Node& variable) {
  return variable.attributes().Find(kExactLabel) != nullptr;
}

std::string VariableKey(const Node& variable) {
  const std::string& label = variable.attribute("label").AsString();
  return HasExactLabel(variable) ? label : llvm::StringRef(label).lower();
}

RatifiedLabels::RatifiedLabels(const Graph& graph) {
  LabelsInUse in_use;
  llvm::StringSet<> keys;
  ForEachVariable(graph, [&](const Node& variable, bool is_body) {
    const std::string& label = variable.String("label");
    if (!keys.insert(VariableKey(variable)).second) return;
    if (llvm::all_of(label, IsLabelCharacter) && in_use.Use(label)) return;
    indices_[VariableKey(variable)] = changes_.size();
    changes_.push_back({is_body ? NodeId() : variable.id(), label, ""});
  });
  // Labels that need no change keep their spelling, wherever they are in the graph.
  for (Change& change : changes_) {
    std::string nearest = change.before;
    std::replace_if(
        nearest.begin(), nearest.end(), [](char c) { return !IsLabelCharacter(c); }, '_');
    if (in_use.NeedsFileAsFolder(nearest)) std::replace(nearest.begin(), nearest.end(), '/', '_');
    change.after = nearest;
    for (int number = 2; !in_use.Use(change.after); ++number)
      change.after = fmt::format("{}_{}", nearest, number);
  }
}

const std::string& RatifiedLabels::Of(const Node& variable) const {
  const auto found = indices_.find(VariableKey(variable));
  return found == indices_.end() ? variable.String("label") : changes_[found->second].after;
}

}  // namespace nnefc::ir::ops

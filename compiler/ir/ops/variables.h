#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics/diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::ir::ops {

// Marks a variable whose label is used verbatim: any text, and case-sensitive (P 4.1.3).
inline constexpr std::string_view kExactLabel = "exact_label";
bool HasExactLabel(const Node& variable);
// Returns a key that is equal for variables that share their data: the label, in lower case unless it is
// exact (R 4.1.3).
std::string VariableKey(const Node& variable);

// Returns true for a character that labels of the ratified dialect may have: [a-zA-Z0-9_./\-] (R 4.1.3).
bool IsLabelCharacter(char c);

// Returns the string literal of a label with such characters.
std::string LabelLiteral(std::string_view label);

// The labels that the variables of a graph, and of its bodies, have in a ratified document. A character that
// the dialect does not allow becomes `_`. A label that is taken then, regardless of case, gets the first free
// number: `a:b` becomes `a_b`, or `a_b_2`. Variables that share their data keep sharing it. The labels name
// files that fit into one folder, provided that those of the graph do.
class RatifiedLabels {
 public:
  explicit RatifiedLabels(const Graph& graph);

  // Returns the label of a variable of the graph.
  const std::string& Of(const Node& variable) const;
  // Returns the changed labels with the first variable of each, in the order of the graph.
  struct Change {
    NodeId variable;  // invalid in a body
    std::string before;
    std::string after;
  };
  const std::vector<Change>& changes() const { return changes_; }

 private:
  std::vector<Change> changes_;
  llvm::StringMap<size_t> indices_;  // VariableKey -> index in changes_
};

// The location of a variable's label or an update's target.
struct VariablePlace {
  SourceRange range;
  bool is_literal = false;  // the label is a string literal that a fix-it may replace
};

// Checks that labels have the characters of the ratified dialect, unless they are exact (variable.label,
// R 4.1.3). Reports each label once, with its RatifiedLabels as fix-its of all variables that have it.
[[nodiscard]] bool CheckLabelCharacters(const Graph& graph, Emitter& emitter,
                                        llvm::function_ref<VariablePlace(NodeId)> place);

// The rule for the shapes of variables that share their data.
enum class SharedShapes : uint8_t {
  kOfDialect,  // of exact labels, trailing extents of 1 are implied (P 4.1)
  kEqual       // equal, as in the ratified document that is printed of the graph (R 4.1.3)
};

// Checks the rules across nodes. Labels have the characters of the dialect (CheckLabelCharacters).
// Variables with equal keys have one shape and type (variable.shared-label, R 4.1.3), those with different
// keys have files that fit into one folder (variable.file, R 5.1), and shared data is updated at most once
// (update.once, R 4.8). Returns false if a rule is violated. If the range of `place` is invalid, the node's
// range is reported.
[[nodiscard]] bool CheckVariables(
    const Graph& graph, Emitter& emitter,
    llvm::function_ref<VariablePlace(NodeId)> place = [](NodeId) { return VariablePlace(); },
    SharedShapes shapes = SharedShapes::kOfDialect);

}  // namespace nnefc::ir::ops

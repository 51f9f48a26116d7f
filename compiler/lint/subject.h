#pragma once

#include <map>
#include <utility>
#include <vector>

#include "compiler/lint/lint.h"

namespace nnefc::lint {

// The input of the rule families: a document with its graph, and the reporting of findings.
class Subject {
 public:
  Subject(const LintInput& input, const Settings& settings, Context& context);

  const semantics::CheckedDocument& checked;
  const ast::Document& document;
  const ir::Graph& graph;                // after mistakes incomplete or empty
  const package::ModelContainer* model;  // may be null
  Context& context;
  // False if the document has mistakes. Then expressions may lack types and bindings, nodes may be missing,
  // and so may names unless `IsReadable` returns true.
  const bool is_right;
  const bool has_trial_extents;  // in place of symbols of extents

  // Returns true if there is a mistake in a statement or expression.
  bool HasMistake(SourceRange range) const;
  // Returns true if no mistake hides a name of the declaration, whether used or assigned.
  bool IsReadable(SourceRange range) const;

  bool enabled(const Rule& rule) const { return settings_.enabled(rule); }
  std::string_view Text(Symbol symbol) const { return symbol.valid() ? context.symbols.Text(symbol) : ""; }
  std::string_view SourceText(SourceRange range) const {
    return context.sources.Text(range.file).substr(range.begin, range.end - range.begin);
  }
  template <typename... Args>
  DiagnosticBuilder Report(const Rule& rule, SourceRange range, fmt::format_string<Args...> format,
                           Args&&... args) {
    return context.emitter.Emit(rule, range, format, std::forward<Args>(args)...);
  }

  // Returns the name of the standard operation that an expression invokes; empty for other expressions, for
  // fragments of the document and for invalid invocations.
  std::string_view StandardCallee(ast::ExprId expr) const;
  // Returns the argument bound to a parameter of an invocation; invalid if it has its default value or there
  // is no such parameter.
  ast::ExprId ArgumentOf(ast::ExprId invocation, std::string_view parameter) const;
  // Returns the document's source range for a node: its own, or that of the invocation for nodes from
  // fragments of the standard library.
  SourceRange SiteOf(const ir::Node& node) const;
  // Nodes by their source ranges in the document, sorted. A range within a fragment has the nodes of all its
  // instantiations.
  using Sites = std::map<std::pair<uint32_t, uint32_t>, std::vector<ir::NodeId>>;
  const Sites& sites() const { return sites_; }
  // Returns the nodes of a source range; empty if there are none.
  const std::vector<ir::NodeId>& NodesAt(SourceRange range) const;

 private:
  const Settings& settings_;
  std::vector<std::pair<uint32_t, bool>> mistakes_;  // offset -> whether names may be hidden
  bool dropped_count_;                               // there are more mistakes
  Sites sites_;
};

// The families of rules, one per file. Each runs in about linear time in the size of the document and its
// graph.
void LintUnused(Subject& subject);
void LintDeprecated(Subject& subject);
// Reports deprecated operations in the document's graph.quant file; in deprecated.cpp.
void LintQuantizationFile(const ast::Document& quantization, Subject& subject);
void LintDefaults(Subject& subject);
void LintData(Subject& subject);
void LintRedundant(Subject& subject);
void LintBranches(Subject& subject);
void LintBroadcast(Subject& subject);
void LintWindows(Subject& subject);
void LintPortability(Subject& subject);
void LintComments(Subject& subject);

}  // namespace nnefc::lint

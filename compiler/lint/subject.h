#pragma once

#include <map>
#include <utility>
#include <vector>

#include "compiler/lint/lint.h"

namespace nnefc::lint {

// What the families of rules look at: a document, its graph, and where they tell
// what they find.
class Subject {
 public:
  Subject(const LintInput& input, const Settings& settings, Context& context);

  const CheckedDocument& checked;
  const ast::Document& document;
  const ir::Graph& graph;       // with what could be made, or empty
  const ModelContainer* model;  // may be null
  Context& context;
  // False if the document holds mistakes. Then expressions may lack types and
  // bindings, the graph nodes, and what `IsReadable` denies names.
  const bool is_right;

  // True if a mistake lies in a statement or expression.
  bool HasMistake(SourceRange range) const;
  // True if no mistake hides a name of the declaration: a use, or what is
  // assigned.
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

  // The name of the standard operation that an expression invokes; empty for
  // other expressions, for fragments of the document and for what is wrong.
  std::string_view StandardCallee(ast::ExprId expr) const;
  // The argument bound to a parameter of an invocation; invalid if its default
  // holds or there is no such parameter.
  ast::ExprId ArgumentOf(ast::ExprId invocation, std::string_view parameter) const;
  // The place in the document that a node was made for: its own, or that of the
  // invocation through which a body of the standard library made it.
  SourceRange SiteOf(const ir::Node& node) const;
  // Nodes by the place in the document that they were made for, in its order: a
  // place within a fragment has those of all its instantiations.
  using Sites = std::map<std::pair<uint32_t, uint32_t>, std::vector<ir::NodeId>>;
  const Sites& sites() const { return sites_; }
  // The nodes of a place; empty if there are none.
  const std::vector<ir::NodeId>& NodesAt(SourceRange range) const;

 private:
  const Settings& settings_;
  std::vector<std::pair<uint32_t, bool>> mistakes_;  // by place; whether names may be hidden
  bool lost_count_;                                  // there are more mistakes
  Sites sites_;
};

// The families, one a file. Each runs in time about linear in the document and
// its graph.
void LintUnused(Subject& subject);
void LintDeprecated(Subject& subject);
void LintQuantizationFile(const ast::Document& quantization, Subject& subject);  // deprecated.cpp
void LintDefaults(Subject& subject);
void LintData(Subject& subject);
void LintRedundant(Subject& subject);
void LintBranches(Subject& subject);
void LintBroadcast(Subject& subject);
void LintWindows(Subject& subject);
void LintPortability(Subject& subject);
void LintComments(Subject& subject);

}  // namespace nnefc::lint

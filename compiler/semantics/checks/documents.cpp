#include "compiler/semantics/checks/documents.h"

#include "compiler/semantics/checks/bodies.h"
#include "compiler/semantics/checks/declarations.h"

namespace nnefc::semantics::checks {
namespace {

void ChooseGraph(CheckContext& check, const CheckOptions& options) {
  if (options.graph.has_value()) {
    const ast::Graph* chosen = nullptr;
    for (const ast::Graph& graph : check.document.graphs) {
      if (check.Text(graph.name.symbol) != *options.graph) continue;
      if (chosen != nullptr) {
        check
            .Report(kSeveralGraphs, graph.name.range, "the document has several graphs of the name `{}`",
                    *options.graph)
            .Note(chosen->name.range, "the first one");
        return;
      }
      chosen = &graph;
    }
    if (chosen == nullptr) {
      const SourceRange place = check.document.graphs.empty() ? SourceRange{check.document.file, 0, 0}
                                                              : check.document.graphs.front().name.range;
      DiagnosticBuilder builder =
          check.Report(kUnknownGraph, place, "the document has no graph of the name `{}`", *options.graph);
      for (const ast::Graph& graph : check.document.graphs) {
        builder.Note(graph.name.range, "it has `{}`", check.Text(graph.name.symbol));
      }
    }
    check.tables.graph = chosen;
    return;
  }
  if (check.document.graphs.size() > 1) {
    const ast::Graph& second = check.document.graphs[1];  // its name may be missing
    DiagnosticBuilder builder =
        check.Report(kSeveralGraphs, second.name.range.valid() ? second.name.range : second.keyword_range,
                     "the document has {} graphs; `--graph NAME` chooses one", check.document.graphs.size());
    builder.Note(check.document.graphs[0].name.range, "the first one");
    return;
  }
  if (!check.document.graphs.empty()) check.tables.graph = &check.document.graphs.front();
}

}  // namespace

std::unique_ptr<CheckedDocument> CheckModel(CheckContext& check, const CheckOptions& options) {
  CheckDialectRules(check.document, check.dialect, check.kind, check.context, check.deviations);
  DeclareFragments(check);
  ChooseGraph(check, options);
  for (size_t i = 0; i < check.document.fragments.size(); ++i) {
    CheckFragmentBody(check, ast::FragmentId(static_cast<int32_t>(i)));
  }
  // Among several graphs only the chosen one must be correct.
  for (const ast::Graph& graph : check.document.graphs) {
    if (check.tables.graph == nullptr || check.tables.graph == &graph) CheckGraphBody(check, graph);
  }
  return check.Finish();
}

std::unique_ptr<CheckedDocument> CheckLibrary(CheckContext& check) {
  CheckDialectRules(check.document, check.dialect, check.kind, check.context, check.deviations);
  DeclareFragments(check);
  for (size_t i = 0; i < check.document.fragments.size(); ++i) {
    CheckFragmentBody(check, ast::FragmentId(static_cast<int32_t>(i)));
  }
  return check.Finish();
}

}  // namespace nnefc::semantics::checks

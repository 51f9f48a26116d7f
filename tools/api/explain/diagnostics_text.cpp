// Reports of diagnostics.

#include "tools/api/explain/diagnostics_text.h"

#include <algorithm>
#include <optional>

#include "compiler/explain/rule_file.h"
#include "compiler/support/diagnostics/render_github.h"
#include "compiler/support/diagnostics/render_sarif.h"

namespace nnefc::api {
namespace {

// Returns the statement of a rule's page on one line; empty if it has no page.
std::string StatementOf(const Rule& rule) {
  const std::optional<explain::RuleFile> file = explain::FindRuleFile(rule.label);
  std::string statement(file ? file->statement : std::string_view());
  std::replace(statement.begin(), statement.end(), '\n', ' ');
  return statement;
}

}  // namespace

std::string RenderDiagnostics(ReportForm form, const std::vector<nnefc::Diagnostic>& diagnostics,
                              const SourceManager& sources) {
  switch (form) {
    case ReportForm::kText:
    case ReportForm::kColoredText:
      return RenderText(diagnostics, sources, {.color = form == ReportForm::kColoredText});
    case ReportForm::kGithub:
      return RenderGithub(diagnostics, sources);
    case ReportForm::kJson:
      return RenderJson(diagnostics, sources);
    case ReportForm::kSarif:
      return RenderSarif(diagnostics, sources, StatementOf);
  }
  return "";
}

}  // namespace nnefc::api

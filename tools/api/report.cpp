// The C++ interface's reports of diagnostics.

#include "tools/api/report.h"

#include "compiler/support/diagnostics/sort_diagnostics.h"
#include "tools/api/facts/tool_rules.h"
#include "tools/api/internals.h"

namespace nnefc::api {
namespace {

Place PlaceOf(SourceRange range, const SourceManager& sources) {
  Place place;
  if (!range.valid()) return place;
  place.file = sources.Name(range.file);
  if (sources.Kind(range.file) != FileKind::kText) return place;
  const LineColumn begin = sources.Position(range.start());
  const LineColumn end = sources.Position({range.file, range.end});
  place.line = begin.line;
  place.column = begin.column;
  place.end_line = end.line;
  place.end_column = end.column;
  return place;
}

static_assert(static_cast<int>(Severity::kError) == static_cast<int>(nnefc::Severity::kError) &&
              static_cast<int>(Severity::kWarning) == static_cast<int>(nnefc::Severity::kWarning) &&
              static_cast<int>(Severity::kNote) == static_cast<int>(nnefc::Severity::kNote));
static_assert(static_cast<int>(Applicability::kSafe) == static_cast<int>(nnefc::Applicability::kSafe) &&
              static_cast<int>(Applicability::kUnsafe) == static_cast<int>(nnefc::Applicability::kUnsafe));

Diagnostic Shown(const nnefc::Diagnostic& reported, const SourceManager& sources) {
  Diagnostic shown{.severity = static_cast<Severity>(reported.severity),
                   .rule = std::string(reported.rule->label),
                   .section = std::string(reported.rule->section),
                   .message = reported.message,
                   .place = PlaceOf(reported.range, sources),
                   .notes = {},
                   .fixes = {}};
  for (const DiagnosticNote& note : reported.notes)
    shown.notes.push_back({note.message, PlaceOf(note.range, sources)});
  for (const FixIt& fix : reported.fixes)
    shown.fixes.push_back(
        {PlaceOf(fix.range, sources), fix.text, static_cast<Applicability>(reported.applicability)});
  return shown;
}

Report MakeReport(const std::vector<nnefc::Diagnostic>& diagnostics, size_t error_count,
                  bool environment_failed, const SourceManager& sources) {
  if (diagnostics.empty() && error_count == 0 && !environment_failed) return Report();
  auto state = std::make_shared<Report::State>();
  for (const nnefc::Diagnostic& diagnostic : diagnostics)
    state->diagnostics.push_back(Shown(diagnostic, sources));
  state->error_count = error_count;
  state->environment_failed = environment_failed;
  state->text = RenderText(diagnostics, sources, {.color = false});
  state->colored = RenderText(diagnostics, sources, {.color = true});
  state->json = RenderJson(diagnostics, sources);
  state->sarif = RenderSarif(diagnostics, sources);
  return Report(std::move(state));
}

}  // namespace

Report TakeReport(driver::Compilation& compilation) {
  Emitter& emitter = compilation.context().emitter;
  Report report = MakeReport(driver::CollectDiagnostics(compilation).diagnostics, emitter.error_count(),
                             compilation.environment_failed(), compilation.context().sources);
  emitter.Clear();
  return report;
}

Report TakeReport(Context& context) {
  Report report = MakeReport(SortedByLocation(context.emitter.diagnostics()), context.emitter.error_count(),
                             /*environment_failed=*/false, context.sources);
  context.emitter.Clear();
  return report;
}

Report EnvironmentReport(std::string message) {
  Context context;
  context.emitter.Emit(kEnvironment, {}, "{}", message);
  return MakeReport(context.emitter.diagnostics(), 1, /*environment_failed=*/true, context.sources);
}

const std::vector<Diagnostic>& Report::diagnostics() const {
  static const std::vector<Diagnostic> kNone;
  return state_ ? state_->diagnostics : kNone;
}

bool Report::ok() const {
  return error_count() == 0 && !environment_failed();
}

size_t Report::error_count() const {
  return state_ ? state_->error_count : 0;
}

bool Report::environment_failed() const {
  return state_ && state_->environment_failed;
}

std::string Report::ToText(bool color) const {
  if (state_ == nullptr) return "";
  return color ? state_->colored : state_->text;
}

std::string Report::ToJson() const {
  return state_ ? state_->json : RenderJson({}, SourceManager());
}

std::string Report::ToSarif() const {
  return state_ ? state_->sarif : RenderSarif({}, SourceManager());
}

}  // namespace nnefc::api

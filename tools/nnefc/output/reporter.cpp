// Collection and output of a command's diagnostics.

#include "tools/nnefc/output/reporter.h"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <map>

#include "compiler/support/diagnostics/render_sarif.h"
#include "compiler/support/diagnostics/sort_diagnostics.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"
#include "tools/api/explain/diagnostics_text.h"
#include "tools/api/facts/costs.h"
#include "tools/api/facts/tool_rules.h"

namespace nnefc::cli {
namespace {

using Json = nlohmann::ordered_json;

// Machine-readable documents for stderr.
std::vector<std::string> reported;
Format error_format = Format::kText;

std::string Dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Appends the results of a SARIF run to another; both then share rules.
void MergeRun(Json& run, Json&& next) {
  Json& rules = run["tool"]["driver"]["rules"];
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < rules.size(); ++i) places.emplace(rules[i]["id"], i);
  for (Json& rule : next["tool"]["driver"]["rules"]) {
    if (places.try_emplace(rule["id"], rules.size()).second) rules.push_back(std::move(rule));
  }
  for (Json& result : next["results"]) {
    result["ruleIndex"] = places.at(result["ruleId"]);
    run["results"].push_back(std::move(result));
  }
  for (Json& artifact : next["artifacts"]) run["artifacts"].push_back(std::move(artifact));
  if (!run.contains("invocations")) {
    run["invocations"] = next["invocations"];
  } else if (next.contains("invocations") && !next["invocations"][0]["executionSuccessful"]) {
    run["invocations"][0]["executionSuccessful"] = false;
  }
}

// Merges several machine-readable reports.
std::string Merge(const std::vector<std::string>& documents) {
  Json merged = Json::parse(documents.front());
  for (size_t i = 1; i < documents.size(); ++i) {
    Json next = Json::parse(documents[i]);
    for (const char* list : {"diagnostics", "models"}) {
      if (next.contains(list)) merged[list].insert(merged[list].end(), next[list].begin(), next[list].end());
    }
    if (next.contains("runs")) MergeRun(merged["runs"][0], std::move(next["runs"][0]));
  }
  return Dump(merged);
}

std::string Render(Format format, const std::vector<Diagnostic>& diagnostics, const SourceManager& sources,
                   bool color) {
  switch (format) {
    case Format::kText:
      return api::RenderDiagnostics(color ? api::ReportForm::kColoredText : api::ReportForm::kText,
                                    diagnostics, sources);
    case Format::kGithub:
      return api::RenderDiagnostics(api::ReportForm::kGithub, diagnostics, sources);
    case Format::kJson:
      return api::RenderDiagnostics(api::ReportForm::kJson, diagnostics, sources);
    case Format::kSarif:
      return api::RenderDiagnostics(api::ReportForm::kSarif, diagnostics, sources);
  }
  return "";
}

// "1 error", "3 errors"
std::string Count(size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

Reporter::~Reporter() {
  if (is_product_ && options_.prints_text() && !options_.quiet) Write(Summary());
  if (documents_.empty()) return;
  if (is_product_ && !options_.output.empty()) {
    WriteStdout(Merge(documents_));
  } else {
    reported.insert(reported.end(), documents_.begin(), documents_.end());
  }
}

int Reporter::Report(api::Program& program) {
  driver::Compilation& compilation = program.compilation();
  return Show(compilation.path(), program.CollectDiagnostics().diagnostics, compilation.context(),
              compilation.environment_failed());
}

int Reporter::Report(const std::string& model, Context& context, bool environment_failed) {
  return Show(model, SortedByLocation(context.emitter.diagnostics()), context, environment_failed);
}

int Reporter::Show(const std::string& model, std::vector<Diagnostic> diagnostics, Context& context,
                   bool environment_failed) {
  Counts counts{.model = model};
  size_t shown = 0;  // errors shown
  for (Diagnostic& diagnostic : diagnostics) {
    shown += diagnostic.severity == Severity::kError ? 1 : 0;
    const bool promoted = options_.werror && diagnostic.severity == Severity::kWarning;
    if (promoted) diagnostic.severity = Severity::kError;
    counts.errors += promoted ? 1 : 0;
    counts.warnings += diagnostic.severity == Severity::kWarning ? 1 : 0;
    counts.notes += diagnostic.severity == Severity::kNote ? 1 : 0;
  }
  const size_t reported_errors = context.emitter.error_count();
  const size_t left_out = reported_errors - std::min(shown, reported_errors);
  counts.errors += reported_errors;
  context.emitter.Clear();  // already reported
  if (options_.quiet)
    std::erase_if(diagnostics, [](const Diagnostic& one) { return one.severity != Severity::kError; });
  const Format format = options_.output_format();
  const bool to_file = is_product_ && !options_.output.empty();
  const bool color = to_file ? options_.color == "always" : UseColor(options_.color, STDERR_FILENO);
  if (options_.prints_text()) {
    Write(Render(format, diagnostics, context.sources, color));
    if (left_out > 0)
      Write(fmt::format("nnefc: note: {} not shown\n",
                        left_out == 1 ? "1 more error is" : fmt::format("{} more errors are", left_out)));
  } else if (is_product_ || !diagnostics.empty()) {
    documents_.push_back(
        WithModels(Render(format, diagnostics, context.sources, color), counts, environment_failed));
  }
  const int exit_code = environment_failed ? kMisuse : counts.errors > 0 ? kInvalid : kSuccess;
  counts_.push_back(std::move(counts));
  return exit_code;
}

void Reporter::Write(const std::string& text) const {
  if (is_product_ && !options_.output.empty()) {
    WriteStdout(text);
  } else {
    WriteStderr(text);
  }
}

// Returns "nnefc: 3 errors and 1 warning in 2 of 40 files", or "nnefc: 2 models, no mistakes" for searched
// folders and on terminals.
std::string Reporter::Summary() const {
  size_t errors = 0;
  size_t warnings = 0;
  size_t files = 0;
  for (const Counts& counts : counts_) {
    errors += counts.errors;
    warnings += counts.warnings;
    files += counts.errors + counts.warnings > 0 ? 1 : 0;
  }
  if (files == 0) {
    const bool to_file = !options_.output.empty() && options_.output != "-";
    const bool is_shown = options_.recursive || (!to_file && ::isatty(STDERR_FILENO) == 1);
    return is_shown && !counts_.empty() && std::uncaught_exceptions() == 0
               ? fmt::format("nnefc: {}, no mistakes\n", Count(counts_.size(), "model"))
               : "";
  }
  if (counts_.size() < 2) return "";
  std::string what = errors > 0 ? Count(errors, "error") : "";
  if (warnings > 0) what += (what.empty() ? "" : " and ") + Count(warnings, "warning");
  return fmt::format("nnefc: {} in {} of {} files\n", what, files, counts_.size());
}

// Adds information about the model as a whole to a machine-readable report.
std::string Reporter::WithModels(const std::string& document, const Counts& counts,
                                 bool environment_failed) const {
  if (!is_product_) return document;
  Json json = Json::parse(document);
  if (options_.output_format() == Format::kJson) {
    json["models"] = Json::array({{{"model", counts.model},
                                   {"errors", counts.errors},
                                   {"warnings", counts.warnings},
                                   {"notes", counts.notes}}});
  } else {
    json["runs"][0]["artifacts"] =
        Json::array({{{"location", {{"uri", SarifUri(counts.model)}}}, {"roles", {"analysisTarget"}}}});
    json["runs"][0]["invocations"] = Json::array({{{"executionSuccessful", !environment_failed}}});
  }
  return Dump(json);
}

void SetErrorFormat(Format format) {
  error_format = format;
}

void PrintError(const std::string& message, const std::string& note) {
  if (error_format == Format::kText) {
    PrintStderr("nnefc: error: {}\n", message);
    if (!note.empty()) PrintStderr("nnefc: note: {}\n", note);
    return;
  }
  Diagnostic diagnostic{&api::kMisuse, Severity::kError, {}, message, {}, {}};
  if (!note.empty()) diagnostic.notes.push_back({{}, note});
  const std::string text = Render(error_format, {diagnostic}, SourceManager(), /*color=*/false);
  if (error_format == Format::kGithub) {
    WriteStderr(text);
  } else {
    reported.push_back(text);
  }
}

int ReportUnknownCosts(const std::string& model, const driver::Compilation& compilation) {
  PrintError(fmt::format("{}: {}", model, api::kUnknownCosts),
             compilation.format() == driver::ModelFormat::kNnef ? "set them by --input-shape NAME=EXTENTS"
                                                                : "set them where the model is converted");
  return kInvalid;
}

void WriteReports() {
  if (!reported.empty()) WriteStderr(Merge(reported));
  reported.clear();
}

}  // namespace nnefc::cli

// The C++ interface's lint of models and of texts.

#include "fmt/core.h"
#include "tools/api/internals.h"
#include "tools/api/linter.h"
#include "tools/api/model.h"

namespace nnefc::api {
namespace {

Report Lint(const std::string& path, const LintOptions& options, driver::CompileOptions compile) {
  return Guard([&]() -> Report {
    LintMistake mistake;
    std::optional<Linter> linter = Linter::Make({.enabled = options.enabled,
                                                 .disabled = options.disabled,
                                                 .levels = {options.levels.begin(), options.levels.end()}},
                                                mistake);
    if (!linter) return EnvironmentReport(mistake.message);
    if (driver::FormatOf(path) != driver::ModelFormat::kNnef)
      return EnvironmentReport(fmt::format("`{}`: lint takes NNEF models; OpenVINO IR has `check`", path));
    if (!options.configuration.empty() || options.ignores_configurations || compile.document)
      linter->SetConfiguration(options.configuration);
    return TakeReport(linter->Lint(path, std::move(compile)).program->compilation());
  });
}

}  // namespace

Report Lint(const std::string& path, const LintOptions& lint, const ModelOptions& options) {
  return Lint(path, lint, ToCompileOptions(options));
}

Report LintText(const std::string& name, const std::string& text, const LintOptions& lint,
                const ModelOptions& options) {
  driver::CompileOptions compile = ToCompileOptions(options);
  compile.document = text;
  return Lint(name, lint, std::move(compile));
}

}  // namespace nnefc::api

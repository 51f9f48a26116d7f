// The C++ interface's lint of models and of texts.

#include "compiler/lint/config.h"
#include "compiler/lint/lint_model.h"
#include "fmt/core.h"
#include "tools/api/internals.h"
#include "tools/api/model.h"

namespace nnefc::api {
namespace {

// Adds rules by name. Stores the error of an unknown name in `mistake`.
void AddRules(const std::vector<std::string>& names, std::vector<const Rule*>& rules, bool& all,
              std::string& mistake) {
  for (const std::string& name : names) {
    if (name == "all") {
      all = true;
    } else if (const Rule* rule = lint::Settings::Find(name)) {
      rules.push_back(rule);
    } else {
      mistake = lint::Settings::WhyNot(name);
    }
  }
}

lint::SettingsRequest RequestOf(const LintOptions& options, std::string& mistake) {
  lint::SettingsRequest request;
  AddRules(options.enabled, request.enabled, request.enable_all, mistake);
  AddRules(options.disabled, request.disabled, request.disable_all, mistake);
  for (const auto& [name, level] : options.levels) {
    const Rule* rule = lint::Settings::Find(name);
    const std::optional<nnefc::Severity> severity = lint::ParseLevel(level);
    if (rule == nullptr) {
      mistake = lint::Settings::WhyNot(name);
    } else if (!severity) {
      mistake = fmt::format("`{}` is not a level; expected error, warning or note", level);
    } else {
      request.levels.emplace_back(rule, *severity);
    }
  }
  return request;
}

Report Lint(const std::string& path, const LintOptions& options, driver::CompileOptions compile) {
  return Guard([&]() -> Report {
    std::string mistake;
    const lint::SettingsRequest request = RequestOf(options, mistake);
    if (!mistake.empty()) return EnvironmentReport(mistake);
    compile.purpose = expand::Purpose::kValidate;
    const bool searches =
        options.configuration.empty() && !options.ignores_configurations && !compile.document;
    driver::Compilation compilation(path, std::move(compile));
    if (compilation.format() != driver::ModelFormat::kNnef)
      return EnvironmentReport(fmt::format("`{}`: lint takes NNEF models; OpenVINO IR has `check`", path));
    // Errors of the configuration do not stop the stages; they are reported last.
    Context configuration(compilation.context(), driver::CompileOptions().error_limit);
    bool failed = false;
    lint::Settings settings;
    const std::string file = searches ? lint::FindConfig(path) : options.configuration;
    if (!file.empty()) lint::Apply(lint::ReadConfig(file, configuration, failed), settings);
    lint::Apply(request, settings);
    compilation.RunUntil(driver::Stage::kExpand);
    lint::LintModel(compilation, settings);
    compilation.context().emitter.Take(std::move(configuration.emitter));
    return TakeReport(compilation);
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

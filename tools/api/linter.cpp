// Lint of several models by the same options.

#include "tools/api/linter.h"

#include "compiler/lint/lint_model.h"
#include "fmt/format.h"
#include "tools/api/forms/fixes.h"

namespace nnefc::api {
namespace {

// Adds rules by name. Sets `mistake` for an unknown name.
void AddRules(std::string_view list, const std::vector<std::string>& names, std::vector<const Rule*>& rules,
              bool& all, std::optional<LintMistake>& mistake) {
  for (const std::string& name : names) {
    if (name == "all") {
      all = true;
    } else if (const Rule* rule = lint::Settings::Find(name)) {
      rules.push_back(rule);
    } else if (!mistake) {
      mistake = {list, lint::Settings::WhyNot(name)};
    }
  }
}

}  // namespace

std::optional<Linter> Linter::Make(const LintRules& rules, LintMistake& mistake) {
  Linter linter;
  lint::SettingsRequest& request = linter.request_;
  std::optional<LintMistake> found;
  AddRules("enable", rules.enabled, request.enabled, request.enable_all, found);
  AddRules("disable", rules.disabled, request.disabled, request.disable_all, found);
  for (const auto& [name, level] : rules.levels) {
    const Rule* rule = lint::Settings::Find(name);
    const std::optional<nnefc::Severity> severity = lint::ParseLevel(level);
    if (found) break;
    if (!severity) {
      found = {"level", fmt::format("`{}` is not a level; expected error, warning or note", level)};
    } else if (rule == nullptr) {
      found = {"level", lint::Settings::WhyNot(name)};
    } else {
      request.levels.emplace_back(rule, *severity);
    }
  }
  if (!found) return linter;
  mistake = std::move(*found);
  return std::nullopt;
}

LintedModel Linter::Lint(const std::string& path, driver::CompileOptions options, LintFixes fixes,
                         const std::function<void(Program&, driver::FixReport&)>& run) {
  options.purpose = expand::Purpose::kValidate;
  LintedModel linted{.program = std::make_unique<Program>(path, options)};
  driver::Compilation& compilation = linted.program->compilation();
  Context configuration(compilation.context(), options.error_limit);
  const std::string file = configuration_ ? *configuration_ : lint::FindConfig(path);
  lint::Settings settings;
  if (!file.empty()) lint::Apply(lint::ReadConfig(file, configuration, linted.environment_failed), settings);
  lint::Apply(request_, settings);
  if (fixes != LintFixes::kNone)
    linted.fixes = FixTexts(path, options, fixes == LintFixes::kUnsafe, &settings);
  compilation.SetTexts(std::move(options.texts));
  if (run != nullptr) {
    run(*linted.program, linted.fixes);
  } else {
    (void)compilation.RunUntil(driver::Stage::kExpand);
  }
  lint::LintModel(compilation, settings);
  if (reported_configurations_.insert(file).second)
    compilation.context().emitter.Take(std::move(configuration.emitter));
  linted.environment_failed |= compilation.environment_failed();
  return linted;
}

}  // namespace nnefc::api

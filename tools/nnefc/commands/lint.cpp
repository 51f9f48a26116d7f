// The command `nnefc lint`: reports suspicious and non-portable parts of models.

#include "tools/api/linter.h"
#include "tools/nnefc/arguments/fixes.h"
#include "tools/nnefc/common.h"
#include "tools/nnefc/output/output_name.h"
#include "tools/nnefc/output/reporter.h"

namespace nnefc::cli {
namespace {

struct LintCommand : CommonOptions {
  api::LintRules rules;
  std::vector<std::string> levels;
  std::string config;
  bool no_config = false;
  FixOptions fixes;

  int Run();
  api::Linter MakeLinter();
};

api::Linter LintCommand::MakeLinter() {
  for (const std::string& text : levels) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos)
      throw MisuseError(fmt::format("`--level {}`: expected RULE=error, RULE=warning or RULE=note", text));
    rules.levels.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  api::LintMistake mistake;
  std::optional<api::Linter> linter = api::Linter::Make(rules, mistake);
  if (!linter) throw MisuseError(fmt::format("`--{}`: {}", mistake.list, mistake.message));
  if (no_config || !config.empty()) linter->SetConfiguration(config);
  return std::move(*linter);
}

int LintCommand::Run() {
  RequireReportName(output, output_format());
  fixes.Validate(*this);
  api::Linter linter = MakeLinter();
  Reporter reporter(*this, /*is_product=*/true);
  int exit_code = kSuccess;
  const api::LintFixes applied = !fixes.fix           ? api::LintFixes::kNone
                                 : fixes.unsafe_fixes ? api::LintFixes::kUnsafe
                                                      : api::LintFixes::kSafe;
  for (const std::string& model : FindModels()) {
    driver::CompileOptions compile = compile_options(model);
    if (driver::FormatOf(model) != driver::ModelFormat::kNnef)
      throw MisuseError("`lint` takes NNEF models; OpenVINO IR has `check`");
    const api::LintedModel linted = linter.Lint(ModelName(model), std::move(compile), applied,
                                                [&](api::Program& program, driver::FixReport& report) {
                                                  fixes.Write(model, report);
                                                  (void)RunStages(program, driver::Stage::kExpand);
                                                });
    fixes.Deliver(model, linted.fixes, *this);
    exit_code = std::max(exit_code, reporter.Report(ModelName(model), linted.program->compilation().context(),
                                                    linted.environment_failed));
  }
  return exit_code;
}

}  // namespace

void AddLint(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<LintCommand>();
  CLI::App* command =
      app.add_subcommand("lint", "check, and report what is deprecated, unused or surprising");
  AddCommonOptions(*command, *options, 0, ModelKind::kDocument);
  AddRecursive(*command, *options);
  AddStdinFilename(*command, *options);
  command->add_option("--enable", options->rules.enabled, "rules to switch on: names, or all")
      ->type_name("RULE,..")
      ->delimiter(',')
      ->expected(1)
      ->take_all();
  command->add_option("--disable", options->rules.disabled, "rules to switch off: names, or all")
      ->type_name("RULE,..")
      ->delimiter(',')
      ->expected(1)
      ->take_all();
  command->add_option("--level", options->levels, "RULE=error, RULE=warning or RULE=note")
      ->type_name("RULE=LEVEL")
      ->delimiter(',')
      ->expected(1)
      ->take_all();
  auto* config =
      command
          ->add_option("--config", options->config,
                       "the configuration; without it the first .nnefc.json from the document upwards")
          ->type_name("FILE");
  command->add_flag("--no-config", options->no_config, "look for no configuration")->excludes(config);
  options->fixes.Add(*command, "change the files where a finding or mistake has one repair that helps");
  command->footer(
      "Examples:\n"
      "  nnefc lint model_folder --disable unused-fragment --level shape-of=error\n"
      "  nnefc lint --recursive models --werror\n"
      "  nnefc lint model.nnef --fix --diff");
  AddOutput(*command, options->output, "the file to write the report to; standard error without it");
  command->callback(
      [options, &exit_code] { exit_code = WithOutput(options->output, [&] { return options->Run(); }); });
}

}  // namespace nnefc::cli

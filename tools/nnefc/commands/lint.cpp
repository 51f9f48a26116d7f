// The command `nnefc lint`: reports suspicious and non-portable parts of models.

#include "compiler/lint/lint_model.h"

#include <set>

#include "compiler/lint/config.h"
#include "tools/nnefc/arguments/fixes.h"
#include "tools/nnefc/common.h"
#include "tools/nnefc/output/output_name.h"
#include "tools/nnefc/output/reporter.h"

namespace nnefc::cli {
namespace {

struct LintCommand : CommonOptions {
  std::vector<std::string> enable;
  std::vector<std::string> disable;
  std::vector<std::string> levels;
  std::string config;
  bool no_config = false;
  FixOptions fixes;

  int Run();
  lint::SettingsRequest Request() const;
};

const Rule& FindRule(const char* option, const std::string& name) {
  const Rule* rule = lint::Settings::Find(name);
  if (rule == nullptr) throw MisuseError(fmt::format("`{}`: {}", option, lint::Settings::WhyNot(name)));
  return *rule;
}

// Finds rules by name. Sets `all` if "all" is among the names.
std::vector<const Rule*> Rules(const char* option, const std::vector<std::string>& names, bool& all) {
  std::vector<const Rule*> rules;
  for (const std::string& name : names) {
    if (name == "all") {
      all = true;
    } else {
      rules.push_back(&FindRule(option, name));
    }
  }
  return rules;
}

lint::SettingsRequest LintCommand::Request() const {
  lint::SettingsRequest request;
  request.enabled = Rules("--enable", enable, request.enable_all);
  request.disabled = Rules("--disable", disable, request.disable_all);
  for (const std::string& text : levels) {
    const size_t equals = text.find('=');
    const auto level =
        lint::ParseLevel(equals == std::string::npos ? "" : std::string_view(text).substr(equals + 1));
    if (!level)
      throw MisuseError(fmt::format("`--level {}`: expected RULE=error, RULE=warning or RULE=note", text));
    request.levels.emplace_back(&FindRule("--level", text.substr(0, equals)), *level);
  }
  return request;
}

int LintCommand::Run() {
  RequireReportName(output, output_format());
  fixes.Validate(*this);
  const lint::SettingsRequest request = Request();
  Reporter reporter(*this, /*is_product=*/true);
  int exit_code = kSuccess;
  std::set<std::string> reported_configurations;
  for (const std::string& model : FindModels()) {
    driver::CompileOptions compile = compile_options(model);
    compile.purpose = expand::Purpose::kValidate;
    if (driver::FormatOf(model) != driver::ModelFormat::kNnef)
      throw MisuseError("`lint` takes NNEF models; OpenVINO IR has `check`");
    lint::Settings settings;
    const std::string path = !config.empty() ? config : no_config ? "" : lint::FindConfig(ModelName(model));
    driver::Compilation compilation(ModelName(model), compile);
    // Errors of the configuration do not stop the stages; they are reported last.
    Context configuration(compilation.context(), compile.error_limit);
    bool config_failed = false;
    if (!path.empty()) lint::Apply(lint::ReadConfig(path, configuration, config_failed), settings);
    lint::Apply(request, settings);
    const driver::FixReport report = fixes.Make(model, *this, compile, [&](driver::Compilation& compilation) {
      lint::LintModel(compilation, settings);
    });
    compilation.SetTexts(std::move(compile.texts));
    RunStages(compilation, driver::Stage::kExpand);
    lint::LintModel(compilation, settings);
    // A configuration applies to several models; its errors are reported once.
    if (reported_configurations.insert(path).second)
      compilation.context().emitter.Take(std::move(configuration.emitter));
    fixes.Deliver(model, report, *this);
    exit_code = std::max(exit_code, reporter.Report(ModelName(model), compilation.context(),
                                                    config_failed || compilation.environment_failed()));
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
  command->add_option("--enable", options->enable, "rules to switch on: names, or all")
      ->type_name("RULE,..")
      ->delimiter(',')
      ->expected(1)
      ->take_all();
  command->add_option("--disable", options->disable, "rules to switch off: names, or all")
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

// The command `nnefc check`: checks models against the specification, including their shapes.

#include "tools/api/forms/device.h"
#include "tools/api/forms/openvino_form.h"
#include "tools/api/program.h"
#include "tools/nnefc/arguments/fixes.h"
#include "tools/nnefc/arguments/misuse.h"
#include "tools/nnefc/common.h"
#include "tools/nnefc/output/output_name.h"
#include "tools/nnefc/output/reporter.h"

namespace nnefc::cli {
namespace {

struct CheckCommand : CommonOptions {
  FixOptions fixes;
  std::string target = "nnef";

  int Run() {
    RequireReportName(output, output_format());
    fixes.Validate(*this);
    Reporter reporter(*this, /*is_product=*/true);
    int exit_code = kSuccess;
    for (const std::string& model : FindModels()) {
      if (is_profile() && driver::FormatOf(model) != driver::ModelFormat::kNnef) {
        throw MisuseError(
            fmt::format("`{}` is not an NNEF model, as a device profile requires; "
                        "`nnefc convert` makes one of OpenVINO IR",
                        model));
      }
      exit_code = std::max(exit_code, Check(model, reporter));
    }
    return exit_code;
  }

 private:
  bool is_profile() const { return api::IsDeviceProfile(target); }

  int Check(const std::string& model, Reporter& reporter) {
    driver::CompileOptions compile = compile_options(model);
    const bool for_openvino = target == "openvino";
    compile.purpose = for_openvino ? expand::Purpose::kExecute : expand::Purpose::kValidate;
    compile.structure_only = for_openvino;
    driver::FixReport report;
    if (fixes.fix) report = api::FixTexts(ModelName(model), compile, fixes.unsafe_fixes);
    fixes.Write(model, report);
    compile.open.reads_data = for_openvino;
    api::Program program(ModelName(model), compile);
    if (RunStages(program, for_openvino ? driver::Stage::kLower : driver::Stage::kExpand)) {
      if (for_openvino)
        (void)api::OpenVinoFormOf(program.compilation(), compile.structure_only);  // emits errors
      if (!is_profile()) (void)program.Check();                                    // emits errors
    }
    api::DeviceProfile profile(target);
    if (is_profile()) (void)api::CheckForDevice(program, profile);  // emits errors
    fixes.Deliver(model, report, *this);
    const int exit_code = reporter.Report(program);
    return profile.environment_failed() ? kMisuse : exit_code;
  }
};

}  // namespace

void AddCheck(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CheckCommand>();
  CLI::App* command =
      app.add_subcommand("check", "check models by the specification, through expansion and shapes");
  AddCommonOptions(*command, *options, 0);
  AddQuantize(*command, *options);
  AddRecursive(*command, *options);
  AddStdinFilename(*command, *options);
  options->fixes.Add(*command, "change the files where a mistake has one repair that helps");
  command
      ->add_option("--target", options->target,
                   "what the model is for: `openvino` also reports what OpenVINO IR cannot express, the JSON "
                   "profile of a device what the device does not accept")
      ->type_name("WORD")
      ->check(OneOfOrProfile({"nnef", "openvino"}))
      ->capture_default_str();
  command->footer(
      "Examples:\n"
      "  nnefc check model.nnef model_folder --format sarif\n"
      "  nnefc check --recursive models --werror --format github\n"
      "  nnefc check model.nnef --fix --diff\n"
      "  nnefc check model_folder --target device.json\n"
      "  nnefc check - --stdin-filename model.nnef < model.nnef");
  AddOutput(*command, options->output, "the file to write the report to; standard error without it");
  command->callback(
      [options, &exit_code] { exit_code = WithOutput(options->output, [&] { return options->Run(); }); });
}

}  // namespace nnefc::cli

// The command `nnefc upgrade`: converts a provisional document to the ratified dialect.

#include "tools/api/forms/conversion.h"
#include "tools/api/forms/device.h"
#include "tools/api/forms/written_model.h"
#include "tools/nnefc/arguments/misuse.h"
#include "tools/nnefc/common.h"
#include "tools/nnefc/output/output_name.h"
#include "tools/nnefc/output/reporter.h"

namespace nnefc::cli {
namespace {

struct UpgradeCommand : CommonOptions {
  std::string target;
  bool force = false;

  int Run() {
    const bool is_archive = api::ConvertedFormOf(output) == api::ConvertedForm::kArchive;
    if (is_archive) {
      RequireArchiveName(output, force);
    } else {
      RequireOtherFile(*this, force);
    }
    driver::CompileOptions compile = compile_options(models.front());
    api::SetUpgradeOptions(compile);
    if (driver::FormatOf(models.front()) != driver::ModelFormat::kNnef)
      throw MisuseError("`upgrade` takes NNEF models");
    api::DeviceProfile profile(target);
    if (!target.empty()) api::AdaptOptions(ShownModel(models.front()), compile, profile);
    api::Program program(ShownModel(models.front()), compile);
    Reporter reporter(*this);
    bool ok = RunStages(program, driver::Stage::kExpand);
    if (ok && !target.empty()) ok = api::CheckGraphForDevice(program, profile);
    api::UpgradedModel upgraded;
    if (ok) upgraded = api::UpgradeModel(program);
    if (ok && !target.empty()) ok = api::CheckTextForDevice(program, upgraded.texts.graph, profile);
    if (!ok) {
      const int exit_code = reporter.Report(program);
      return profile.environment_failed() ? kMisuse : exit_code;
    }
    if (upgraded.is_document && !is_archive) {
      RequireExtension(output, {".nnef", ".txt"},
                       "the upgraded model is one document, for a `.nnef`, or an archive (`.tar`, `.tgz`)");
      WriteProduct(output, upgraded.texts.graph);
      return reporter.Report(program);
    }
    if (output.empty() || output == "-")
      throw MisuseError("the upgraded model is a folder; name it with `--output`");
    if (!is_archive) RequireFolderName(output, "the upgraded model is a folder, a `.tar` or a `.tgz`");
    Require(api::WriteUpgradedModel(program, upgraded.texts, output,
                                    force ? api::Existing::kReplaceModel : api::Existing::kRefuseModel));
    return reporter.Report(program);
  }
};

}  // namespace

void AddUpgrade(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<UpgradeCommand>();
  CLI::App* command = app.add_subcommand("upgrade", "turn a provisional model into a ratified one");
  AddCommonOptions(*command, *options, 1, ModelKind::kDocument);
  command
      ->add_option(
          "-o,--output", options->output,
          "the document to write, an archive with the tensor files (.nnef.tgz, .tar), or of a folder or "
          "archive the folder; standard output without it")
      ->type_name("PATH");
  command
      ->add_option(
          "--target", options->target,
          "the JSON profile of a device: replace the standard compounds and attribute values that it "
          "lacks where other operations compute the same, and report what it does not accept")
      ->type_name("FILE.json")
      ->check(DeviceProfile());
  command->add_flag("--force", options->force,
                    "write over the document that is read or an archive, or replace a model folder; its "
                    "files that are not part of the "
                    "model stay");
  command->footer(
      "Fragments, comments and composition stay where the ratified dialect has a form for them; a warning "
      "names "
      "what is expanded.\n"
      "Examples:\n"
      "  nnefc upgrade old.nnef -o new.nnef\n"
      "  nnefc upgrade model_folder -o model.nnef.tgz\n"
      "  nnefc upgrade model_folder --target device.json -o model.nnef.tgz\n"
      "  nnefc upgrade model_folder -o model_folder --force");
  command->callback([options, &exit_code] { exit_code = options->Run(); });
}

}  // namespace nnefc::cli

// The command `nnefc upgrade`: converts a provisional document to the ratified dialect.

#include "tools/api/forms/conversion.h"
#include "tools/api/forms/written_model.h"
#include "tools/nnefc/common.h"
#include "tools/nnefc/output/output_name.h"
#include "tools/nnefc/output/reporter.h"

namespace nnefc::cli {
namespace {

struct UpgradeCommand : CommonOptions {
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
    api::Program program(ShownModel(models.front()), compile);
    if (program.compilation().format() != driver::ModelFormat::kNnef)
      throw MisuseError("`upgrade` takes NNEF models");
    const bool ok = RunStages(program, driver::Stage::kExpand);
    Reporter reporter(*this);
    if (!ok) return reporter.Report(program);
    const api::UpgradedModel upgraded = api::UpgradeModel(program);
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
      "  nnefc upgrade model_folder -o model_folder --force");
  command->callback([options, &exit_code] { exit_code = options->Run(); });
}

}  // namespace nnefc::cli

// The command `nnefc expand`: prints the graph of a document in flat form.

#include "tools/api/document_text.h"
#include "tools/api/forms/conversion.h"
#include "tools/api/forms/device.h"
#include "tools/api/forms/written_model.h"
#include "tools/nnefc/arguments/misuse.h"
#include "tools/nnefc/common.h"
#include "tools/nnefc/output/output_name.h"
#include "tools/nnefc/output/reporter.h"

namespace nnefc::cli {
namespace {

struct ExpandCommand : CommonOptions {
  std::vector<std::string> lower;
  std::string target;
  bool force = false;

  int Run() {
    const bool is_archive = api::ConvertedFormOf(output) == api::ConvertedForm::kArchive;
    if (is_archive) {
      RequireArchiveName(output, force);
    } else {
      RequireExtension(output, {".nnef", ".txt"},
                       "`expand` writes one document, to a `.nnef`, or an archive (`.tar`, `.tgz`)");
      RequireOtherFile(*this, force);
    }
    driver::CompileOptions compile = compile_options(models.front());
    compile.lower = lower;
    compile.purpose = expand::Purpose::kPrint;
    compile.open.reads_data = compile.open.reads_data || is_archive;
    if (driver::FormatOf(models.front()) != driver::ModelFormat::kNnef)
      throw MisuseError("`expand` takes NNEF models; OpenVINO IR holds no fragments");
    api::DeviceProfile profile(target);
    if (!target.empty()) api::AdaptOptions(ShownModel(models.front()), compile, profile);
    api::Program program(ShownModel(models.front()), compile);
    bool ok = RunStages(program, driver::Stage::kExpand);
    if (ok && !target.empty()) ok = api::CheckGraphForDevice(program, profile);
    if (ok && is_archive) return WriteArchive(program);
    int exit_code = Reporter(*this).Report(program);
    if (profile.environment_failed()) return kMisuse;
    if (!ok) return exit_code;
    WriteProduct(output, api::FlatText(program.compilation(), limits));
    return exit_code;
  }

 private:
  // Writes the flat document and the tensor files. Errors in the data are reported, and nothing is written.
  int WriteArchive(api::Program& program) {
    driver::Compilation& compilation = program.compilation();
    if (compilation.quantization().document != nullptr)
      throw MisuseError(
          "an archive of the flat model would lack its `graph.quant`; `upgrade` writes one with it");
    Require(api::WriteUpgradedModel(program,
                                    {.graph = api::FlatText(compilation, limits), .quantization = {}}, output,
                                    api::Existing::kRefuse));
    return Reporter(*this).Report(program);
  }
};

}  // namespace

void AddExpand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExpandCommand>();
  CLI::App* command = app.add_subcommand("expand", "print a model as a flat ratified document");
  AddCommonOptions(*command, *options, 1, ModelKind::kDocument);
  AddQuantize(*command, *options);
  command
      ->add_option(
          "-o,--output", options->output,
          "the document to write, or an archive with the tensor files (.nnef.tgz, .tar); standard output "
          "without it")
      ->type_name("FILE");
  command->add_option("--lower", options->lower, "standard compounds to expand too: all, or names")
      ->type_name("NAME,..")
      ->delimiter(',')
      ->expected(1)
      ->take_all();
  command
      ->add_option(
          "--target", options->target,
          "the JSON profile of a device: replace the standard compounds and attribute values that it lacks "
          "where other operations compute the same, and report what it does not accept")
      ->type_name("FILE.json")
      ->check(DeviceProfile());
  command->add_flag("--force", options->force, "write over the document that is read, or an archive");
  command->footer(
      "Examples:\n"
      "  nnefc expand model.nnef --lower softmax,linear -o flat.nnef\n"
      "  nnefc expand model_folder -o flat.nnef.tgz\n"
      "  nnefc expand model.nnef --target device.json -o flat.nnef");
  command->callback([options, &exit_code] { exit_code = options->Run(); });
}

}  // namespace nnefc::cli

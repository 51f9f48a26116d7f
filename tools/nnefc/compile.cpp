#include "compiler/ir/text.h"
#include "compiler/openvino/write.h"
#include "tools/api/openvino_form.h"
#include "tools/nnefc/common.h"
#include "tools/nnefc/misuse.h"
#include "tools/nnefc/reporter.h"
#include "tools/nnefc/transform_options.h"

namespace nnefc::cli {
namespace {

struct CompileCommand : CommonOptions {
  std::optional<uint64_t> random_weights;
  TransformOptions transform;

  int Run() {
    RequireExtension(output, {".xml", ".ir", ".txt"},
                     "`compile` writes OpenVINO IR to `.xml` and the text form to `.ir`");
    CompileOptions compile = compile_options(models.front());
    compile.random_weights = random_weights;
    compile.transform = transform;
    bool to_xml = llvm::StringRef(output).endswith(".xml");
    compile.structure_only = !to_xml;
    Compilation compilation(ShownModel(models.front()), compile);
    bool ok = RunStages(compilation, Stage::kLower);
    if (ok && to_xml) ok = api::RequireOpenVinoForm(compilation, /*structure_only=*/false);
    int exit_code = Reporter(*this).Report(compilation);
    if (!ok) return exit_code;
    if (!to_xml) {
      WriteProduct(output, ir::PrintGraph(*compilation.lowered()));
    } else if (auto written = WriteOpenVino(*compilation.lowered(), output); !written) {
      throw MisuseError(written.error().message);
    }
    return exit_code;
  }
};

}  // namespace

void AddCompile(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CompileCommand>();
  CLI::App* command =
      app.add_subcommand("compile", "lower a model to OpenVINO operations; write or print that graph");
  AddCommonOptions(*command, *options, 1);
  command->add_option("-o,--output", options->output,
                      "net.xml writes OpenVINO IR (net.xml and net.bin), net.ir the text form; the text form "
                      "to standard output without it");
  AddTransformOptions(*command, options->transform);
  command
      ->add_option("--random-weights", options->random_weights,
                   "the seed of data for variables that have none")
      ->check(NonNegative());
  command->footer("Example: nnefc compile model_folder -o net.xml");
  command->callback([options, &exit_code] { exit_code = options->Run(); });
}

}  // namespace nnefc::cli

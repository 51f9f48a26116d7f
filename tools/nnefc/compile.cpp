#include "compiler/ir/text.h"
#include "compiler/openvino/write.h"
#include "compiler/support/temporary_files.h"
#include "tools/api/openvino_form.h"
#include "tools/nnefc/common.h"
#include "tools/nnefc/misuse.h"
#include "tools/nnefc/reporter.h"
#include "tools/nnefc/transform_options.h"

namespace nnefc::cli {
namespace {

struct CompileCommand : CommonOptions {
  std::optional<uint64_t> random_weights;
  bool force = false;
  TransformOptions transform;

  int Run() {
    RequireOtherFile(*this, force);
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
      WriteText(*compilation.lowered());
    } else if (auto written = WriteOpenVino(*compilation.lowered(), output); !written) {
      throw MisuseError(written.error().message);
    }
    return exit_code;
  }

 private:
  // The text form, to standard output or a file; beside `net.ir` the elements of
  // large constants go to `net.bin`.
  void WriteText(const ir::Graph& graph) const {
    constexpr uint64_t kAlignment = 64;
    if (!llvm::StringRef(output).endswith(".ir")) return WriteProduct(output, ir::PrintGraph(graph));
    std::optional<OutputFile> kept;
    uint64_t size = 0;
    const auto require = [](const ErrorOr<Success>& written) {
      if (!written) throw MisuseError(written.error().message);
    };
    const auto keep = [&](const TensorValue& value) {
      if (!kept) {
        ErrorOr<OutputFile> created = OutputFile::Create(output.substr(0, output.size() - 3) + ".bin");
        if (!created) throw MisuseError(created.error().message);
        kept.emplace(std::move(*created));
      }
      const std::string padding((kAlignment - size % kAlignment) % kAlignment, '\0');
      require(kept->Write(padding));
      require(kept->Write(std::span(value.bytes(), value.byte_size())));
      const uint64_t begin = size + padding.size();
      size = begin + value.byte_size();
      return begin;
    };
    const std::string text = ir::PrintGraph(graph, {.keep = keep});
    const auto hold = HoldTemporaryFiles();
    if (kept) require(kept->Commit());
    WriteProduct(output, text);
  }
};

}  // namespace

void AddCompile(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CompileCommand>();
  CLI::App* command =
      app.add_subcommand("compile", "lower a model to OpenVINO operations; write or print that graph");
  AddCommonOptions(*command, *options, 1);
  command
      ->add_option(
          "-o,--output", options->output,
          "net.xml writes OpenVINO IR (net.xml and net.bin), net.ir the text form (net.ir, and net.bin "
          "with the elements of large constants), which goes to standard output without it")
      ->type_name("FILE");
  AddTransformOptions(*command, options->transform);
  command
      ->add_option("--random-weights", options->random_weights,
                   "the seed of data for variables that have none")
      ->type_name("SEED")
      ->check(NonNegative());
  command->add_flag("--force", options->force, "write over the graph that is read");
  command->footer("Example: nnefc compile model_folder -o net.xml");
  command->callback([options, &exit_code] { exit_code = options->Run(); });
}

}  // namespace nnefc::cli

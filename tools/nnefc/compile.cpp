#include "compiler/ir/text.h"
#include "tools/nnefc/common.h"

namespace nnefc::cli {
namespace {

struct CompileCommand : CommonOptions {
  std::string output;
  std::optional<uint64_t> random_weights;

  int Run() {
    CompileOptions compile = compile_options();
    compile.random_weights = random_weights;
    compile.structure_only = true;
    Compilation compilation(models.front(), compile);
    bool ok = RunStages(compilation, Stage::kLower);
    int exit_code = Reporter(*this).Report(compilation);
    if (ok) WriteProduct(output, ir::PrintGraph(*compilation.lowered()));
    return exit_code;
  }
};

}  // namespace

void AddCompile(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CompileCommand>();
  CLI::App* command = app.add_subcommand("compile", "lower a model to OpenVINO operations and print that graph");
  AddCommonOptions(*command, *options, 1);
  command->add_option("-o,--output", options->output, "the file to write; standard output without it");
  command->add_option("--random-weights", options->random_weights, "the seed of data for variables that have none");
  command->footer("Example: nnefc compile model_folder -o net.ir");
  command->callback([options, &exit_code] { exit_code = options->Run(); });
}

}  // namespace nnefc::cli

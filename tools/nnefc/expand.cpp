#include "compiler/expand/print/flat.h"
#include "tools/nnefc/common.h"

namespace nnefc::cli {
namespace {

struct ExpandCommand : CommonOptions {
  std::string output;
  std::vector<std::string> lower;

  int Run() {
    CompileOptions compile = compile_options();
    compile.lower = lower;
    compile.purpose = Purpose::kPrint;
    Compilation compilation(models.front(), compile);
    if (compilation.format() != ModelFormat::kNnef)
      throw MisuseError("`expand` takes NNEF models; OpenVINO IR holds no fragments");
    bool ok = RunStages(compilation, Stage::kExpand);
    int exit_code = Reporter(*this).Report(compilation);
    if (!ok) return exit_code;
    WriteProduct(output, PrintFlatDocument(*compilation.expanded(), compilation.library(),
                                           compilation.context().symbols));
    return exit_code;
  }
};

}  // namespace

void AddExpand(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExpandCommand>();
  CLI::App* command = app.add_subcommand("expand", "print a model as a flat ratified document");
  AddCommonOptions(*command, *options, 1, ModelKind::kDocument);
  command->add_option("-o,--output", options->output, "the file to write; standard output without it");
  command->add_option("--lower", options->lower, "standard compounds to expand too: all, or names")
      ->delimiter(',');
  command->footer("Example: nnefc expand model.nnef --lower softmax,linear -o flat.nnef");
  command->callback([options, &exit_code] { exit_code = options->Run(); });
}

}  // namespace nnefc::cli

#include "compiler/openvino/read.h"
#include "tools/nnefc/common.h"

namespace nnefc::cli {

void AddCheck(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CommonOptions>();
  CLI::App* command =
      app.add_subcommand("check", "judge documents by the specification, through expansion and shapes");
  AddCommonOptions(*command, *options, 0);
  command->footer("Example: nnefc check model.nnef model_folder --format sarif");
  command->callback([options, &exit_code] {
    Reporter reporter(*options, /*is_product=*/true);
    for (const std::string& model : options->models) {
      CompileOptions compile = options->compile_options();
      compile.allow_unknown_extents = true;
      Compilation compilation(model, compile);
      bool ok = RunStages(compilation, Stage::kExpand);
      if (ok && compilation.is_openvino())
        RequireKnownOperations(*compilation.lowered(), compilation.context().emitter);
      exit_code = std::max(exit_code, reporter.Report(compilation));
    }
  });
}

}  // namespace nnefc::cli

// The command `nnefc compile`: lowers a model to OpenVINO operations and writes the graph.

#include "tools/nnefc/arguments/lowered_command.h"

namespace nnefc::cli {

void AddCompile(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<LoweredCommand>();
  CLI::App* command =
      app.add_subcommand("compile", "lower a model to OpenVINO operations; write or print the graph");
  options->AddTo(*command);
  command->footer("Example:\n  nnefc compile model_folder -o net.xml");
  command->callback([options, &exit_code] { exit_code = options->LowerAndWrite("compile"); });
}

}  // namespace nnefc::cli

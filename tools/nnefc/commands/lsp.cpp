// The command `nnefc lsp`: runs the language server.

#include <unistd.h>

#include <memory>

#include "tools/lsp/serve.h"
#include "tools/nnefc/common.h"

namespace nnefc::cli {

void AddLsp(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("lsp", "serve editors by the Language Server Protocol");
  // Editors pass it; there is nothing else.
  auto uses_stdio = std::make_shared<bool>(true);
  command->add_flag("--stdio", *uses_stdio, "use standard input and output, which is the default");
  command->footer(
      "Editors start it, on standard input and output, for `.nnef` documents, `graph.quant` and "
      "`.nnefc.json`. The README of tools/lsp has "
      "configurations for Neovim, Emacs, Helix and Kate.\nExample:\n"
      "  nnefc lsp");
  command->callback(
      [uses_stdio, &exit_code] { exit_code = lsp::Serve(STDIN_FILENO, STDOUT_FILENO, NNEFC_VERSION); });
}

}  // namespace nnefc::cli

#include <cstdio>
#include <new>
#include <system_error>

#include "compiler/support/suggest.h"
#include "fmt/format.h"
#include "tools/nnefc/common.h"
#include "tools/nnefc/misuse.h"

namespace nnefc::cli {
namespace {

constexpr const char* kHelpNote =
    "nnefc: note: `nnefc --help` and `nnefc COMMAND --help` tell what is possible\n";

// Lists the commands if there is no word at all.
bool IsNoCommand(const CLI::App& app, int argc) {
  if (argc >= 2) return false;
  PrintError("no command is given; there are");
  for (const CLI::App* command : app.get_subcommands({})) {
    fmt::print(stderr, "  nnefc {:<12}{}\n", command->get_name(), command->get_description());
  }
  return true;
}

// CLI11 takes an unknown first word for a missing command.
bool IsUnknownCommand(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return false;
  Suggestion suggestion(argv[1]);
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == argv[1]) return false;
    suggestion.Offer(command->get_name());
  }
  PrintError(suggestion.best().empty()
                 ? fmt::format("there is no command `{}`", argv[1])
                 : fmt::format("there is no command `{}`; did you mean `{}`?", argv[1], suggestion.best()));
  return true;
}

// What was printed may be lost only here: a full disk, a closed pipe.
bool FlushProduct() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  PrintError("cannot write to standard output");
  return false;
}

}  // namespace
}  // namespace nnefc::cli

// nnefc: checks, expands, compiles and runs NNEF models.
int main(int argc, char** argv) {
  using namespace nnefc::cli;
  int exit_code = kSuccess;
  CLI::App app{"The compiler for NNEF, the Neural Network Exchange Format.", "nnefc"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "nnefc " NNEFC_VERSION);
  app.footer(
      "Example: nnefc run model_folder --input input=image.npy --outputs out.npz\n"
      "Exit codes: 0 all is well, 1 the input is invalid or a comparison failed, 2 misuse or environment.");
  AddCheck(app, exit_code);
  AddLint(app, exit_code);
  AddExpand(app, exit_code);
  AddFmt(app, exit_code);
  AddUpgrade(app, exit_code);
  AddCompile(app, exit_code);
  AddRun(app, exit_code);
  AddInspect(app, exit_code);
  AddBench(app, exit_code);
  AddExplain(app, exit_code);
  AddOperations(app, exit_code);
  if (IsNoCommand(app, argc) || IsUnknownCommand(app, argc, argv)) {
    fmt::print(stderr, kHelpNote);
    return kMisuse;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {
    return app.exit(request);  // --help, --version
  } catch (const CLI::ParseError& error) {
    PrintError(DescribeMisuse(app, error));
    fmt::print(stderr, kHelpNote);
    return kMisuse;
  } catch (const MisuseError& error) {
    PrintError(error.what());
    return kMisuse;
  } catch (const std::bad_alloc&) {
    PrintError("out of memory");
    return kMisuse;
  } catch (const std::system_error&) {
    // fmt could not print.
    PrintError("cannot write to standard output");
    return kMisuse;
  }
  return FlushProduct() ? exit_code : kMisuse;
}

#include <cstdio>
#include <new>

#include "fmt/format.h"
#include "tools/nnefc/common.h"

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
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {
    return app.exit(request);  // --help, --version
  } catch (const CLI::ParseError& error) {
    PrintError(error.what());
    fmt::print(stderr, "nnefc: note: `nnefc --help` and `nnefc COMMAND --help` tell what is possible\n");
    return kMisuse;
  } catch (const MisuseError& error) {
    PrintError(error.what());
    return kMisuse;
  } catch (const std::bad_alloc&) {
    PrintError("out of memory");
    return kMisuse;
  }
  return exit_code;
}

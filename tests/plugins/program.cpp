// Adds the plug-in of the command line to a model; exit code 1 means an unexpected result.

#include <nnefc/model.h>
#include <nnefc/nnefc.h>

#include <cmath>
#include <cstdio>
#include <string>

namespace api = nnefc::api;

namespace {

int failures = 0;

void Expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("not so: %s\n", what);
  ++failures;
}

constexpr char kDocument[] = R"(version 1.0;
graph net(x) -> (y)
{
    x = external<scalar>(shape = [1, 3]);
    y = acme_swish(x, beta = 2.0);
}
)";

// Runs an executable that outlives its model, whose operations are the plug-in's.
void RunBehindTheModel(const std::string& plugin) {
  Expect(!api::CheckText("net.nnef", kDocument).ok(), "nobody knows the operation without the plug-in");
  api::ModelOptions options;
  options.extensions = {plugin};
  std::optional<api::Executable> executable;
  {
    api::Outcome<api::Model> model = api::Model::FromText("net.nnef", kDocument, options);
    Expect(static_cast<bool>(model), "the document is valid with the plug-in");
    if (!model) return;
    Expect(model->Expand().value.value_or("").find("acme_swish") != std::string::npos, "it expands");
    api::Outcome<api::Executable> compiled = model->Compile();
    Expect(static_cast<bool>(compiled), "it compiles");
    if (!compiled) return;
    executable = *compiled;
  }
  const api::Outcome<api::Tensors> run = executable->Run(executable->RandomInputs(1));
  Expect(static_cast<bool>(run) && run->count("y") == 1, "the executable runs without its model");
}

void CheckInC(const char* plugin) {
  nnefc_model_options options = {};
  options.num_extensions = 1;
  options.extensions = &plugin;
  nnefc_report* report = nullptr;
  const int code = nnefc_check_text("net.nnef", kDocument, sizeof kDocument - 1, &options, &report);
  Expect(code == 0, "the document is valid in C too");
  nnefc_report_free(report);
}

void TellWhatIsWrong() {
  api::ModelOptions options;
  options.extensions = {"none.so"};
  const api::Report report = api::CheckText("net.nnef", kDocument, options);
  Expect(report.environment_failed(), "a file that does not exist is the environment's failure");
  Expect(!report.diagnostics().empty() && report.diagnostics()[0].rule == "plugin.unreadable",
         "it is told by its rule");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  RunBehindTheModel(argv[1]);
  CheckInC(argv[1]);
  TellWhatIsWrong();
  return failures == 0 ? 0 : 1;
}

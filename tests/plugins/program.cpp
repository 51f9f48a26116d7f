// Adds the plug-in of the command line to a model; exit code 1 means an unexpected result.

#include <nnefc/model.h>
#include <nnefc/nnefc.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

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
  nnefc_model_options options = NNEFC_MODEL_OPTIONS_INIT;
  options.num_extensions = 1;
  options.extensions = &plugin;
  nnefc_report* report = nullptr;
  const int code = nnefc_check_text("net.nnef", kDocument, sizeof kDocument - 1, &options, &report);
  Expect(code == 0, "the document is valid in C too");
  nnefc_report_free(report);
}

std::vector<float> ReadFloats(const char* path) {
  std::vector<float> values(6);
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(values.data()), 6 * sizeof(float));
  return values;
}

void WriteFloats(const char* path, const void* data) {
  std::ofstream(path, std::ios::binary).write(static_cast<const char*>(data), 6 * sizeof(float));
}

// Runs a model with the input `x` and the output `y`, both of shape [2, 3].
void RunInCpp(const char* plugin, const char* path, const char* input, const char* output) {
  api::ModelOptions options;
  options.extensions = {plugin};
  const api::Outcome<api::Model> model = api::Model::Open(path, options);
  Expect(static_cast<bool>(model), "the model is valid");
  if (!model) return;
  const api::Outcome<api::Executable> executable = model->Compile();
  Expect(static_cast<bool>(executable), "the model compiles");
  if (!executable) return;
  const std::vector<float> x = ReadFloats(input);
  const api::Outcome<api::Tensors> run = executable->Run({{"x", *api::Tensor::Copy({2, 3}, x)}});
  Expect(static_cast<bool>(run) && run->count("y") == 1 && run->at("y").volume() == 6, "the model runs");
  if (run) WriteFloats(output, run->at("y").floats().data());
}

void RunInC(const char* plugin, const char* path, const char* input, const char* output) {
  nnefc_model_options options = NNEFC_MODEL_OPTIONS_INIT;
  options.num_extensions = 1;
  options.extensions = &plugin;
  nnefc_model* model = nullptr;
  nnefc_executable* executable = nullptr;
  nnefc_session* session = nullptr;
  nnefc_tensors* outputs = nullptr;
  nnefc_report* report = nullptr;
  const std::vector<float> x = ReadFloats(input);
  const int64_t extents[] = {2, 3};
  const nnefc_tensor tensor = {"x", "f32", 2, extents, x.data(), 6 * sizeof(float)};
  const bool ran = nnefc_load(path, &options, &model, nullptr) == 0 &&
                   nnefc_compile(model, nullptr, &executable, nullptr) == 0 &&
                   nnefc_open_session(executable, &session) == 0 &&
                   nnefc_run(session, &tensor, 1, &outputs, &report) == 0 && nnefc_tensors_size(outputs) == 1;
  Expect(ran, "the model runs in C");
  if (ran) WriteFloats(output, nnefc_tensors_at(outputs, 0).data);
  nnefc_tensors_free(outputs);
  nnefc_report_free(report);
  nnefc_session_free(session);
  nnefc_executable_free(executable);
  nnefc_model_free(model);
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
  if (argc == 6) {
    const bool is_c = std::string(argv[2]) == "c";
    (is_c ? RunInC : RunInCpp)(argv[1], argv[3], argv[4], argv[5]);
    return failures == 0 ? 0 : 1;
  }
  if (argc != 2) return 2;
  RunBehindTheModel(argv[1]);
  CheckInC(argv[1]);
  TellWhatIsWrong();
  return failures == 0 ? 0 : 1;
}

#include <chrono>

#include "compiler/driver/rules.h"
#include "fmt/format.h"
#include "tools/nnefc/execution.h"
#include "tools/nnefc/misuse.h"

namespace nnefc::cli {
namespace {

struct RunCommand : CommonOptions {
  ExecutionOptions execution;
  std::string outputs;
  std::string compare;
  std::string tolerance = "approximate";
  bool profile = false;
  bool verbose = false;

  int Run() {
    if (llvm::StringRef(outputs).endswith(".npy") || llvm::StringRef(outputs).endswith(".dat"))
      throw MisuseError(
          fmt::format("`--outputs {}`: outputs are written to an .npz, each by its name", outputs));
    CompileOptions compile = compile_options();
    compile.random_weights = execution.random_weights;
    Compilation compilation(models.front(), compile);
    Reporter reporter(*this);
    std::optional<Execution> prepared = Prepare(compilation, execution, max_bytes);
    if (!prepared) return reporter.Report(compilation);
    auto start = std::chrono::steady_clock::now();
    prepared->session->EnableProfile(profile);
    std::optional<std::vector<TensorValue>> values = Execute(compilation, *prepared);
    std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    int exit_code = reporter.Report(compilation);
    if (!values) return exit_code;
    if (verbose) PrintStages(compilation, *prepared, elapsed.count());
    if (profile) PrintProfile(prepared->session->profile());
    return std::max(exit_code, Deliver(compilation, *prepared, *values));
  }

  std::optional<std::vector<TensorValue>> Execute(Compilation& compilation, Execution& prepared) const {
    Progress progress;
    progress.Start(fmt::format("{}: run", compilation.path()));
    ErrorOr<std::vector<TensorValue>> result = prepared.session->Run(prepared.inputs);
    if (result) return *result;
    compilation.context().emitter.Emit(kRunFailed, {}, "{}", result.error().message);
    return std::nullopt;
  }

  // Writes, compares or shows the outputs.
  int Deliver(Compilation& compilation, const Execution& prepared, const std::vector<TensorValue>& values) {
    const std::vector<runtime::Port>& ports = prepared.executable->outputs();
    if (!outputs.empty()) {
      std::vector<NamedTensor> named;
      for (size_t i = 0; i < ports.size(); ++i) named.push_back({ports[i].name, values[i]});
      if (auto written = WriteNpz(outputs, named); !written) throw MisuseError(written.error().message);
    }
    if (!compare.empty()) {
      auto expected =
          ReadNpz(OpenInput(compare, compilation.context()), compilation.context(), {.max_bytes = max_bytes});
      if (!expected) return Reporter(*this).Report(compilation);
      return Compare(ports, values, *expected, tolerance) ? kSuccess : kInvalid;
    }
    if (outputs.empty()) {
      for (size_t i = 0; i < ports.size(); ++i) {
        fmt::print("{} {}{}: {}\n", ports[i].name, Name(values[i].type()), ToString(values[i].shape()),
                   Summary(values[i]));
      }
    }
    return kSuccess;
  }

  static void PrintStages(const Compilation& compilation, const Execution& prepared,
                          double run_milliseconds) {
    for (const StageTime& time : compilation.times()) {
      fmt::print("{:<8}{}\n", Name(time.stage), FormatTime(time.milliseconds));
    }
    fmt::print("{:<8}{}\n{:<8}{}\n", "plan", FormatTime(prepared.plan_milliseconds), "run",
               FormatTime(run_milliseconds));
  }

  static void PrintProfile(const std::vector<runtime::StepProfile>& steps) {
    double total = 0;
    for (const runtime::StepProfile& step : steps) total += step.milliseconds;
    fmt::print("{:>9} {:>6}  {:<32} {:<36} {:<20} {}\n", "ms", "%", "operation", "name", "output", "kernel");
    for (const runtime::StepProfile& step : steps) {
      fmt::print("{:>9.3f} {:>6.1f}  {:<32} {:<36} {:<20} {}\n", step.milliseconds,
                 total > 0 ? 100 * step.milliseconds / total : 0.0, step.operation, step.name,
                 ToString(step.shape), step.kernel);
    }
    fmt::print("{:>9.3f} {:>6.1f}  all\n", total, 100.0);
  }
};

}  // namespace

void AddRun(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RunCommand>();
  CLI::App* command = app.add_subcommand("run", "execute a model on the CPU");
  AddCommonOptions(*command, *options, 1);
  AddExecutionOptions(*command, options->execution);
  command->add_option("--outputs", options->outputs, "the .npz to write outputs to, by name");
  command->add_option("--compare", options->compare, "an .npz with the expected outputs");
  command->add_option("--tolerance", options->tolerance, "of max|a-b| / max|b|: bitwise, 1e-6, 1e-4, 1e-2")
      ->check(OneOf({"exact", "close", "approximate", "very"}))
      ->capture_default_str();
  command->add_flag("--profile", options->profile, "print the time of each step");
  command->add_flag("--verbose", options->verbose, "print the time of each stage");
  command->footer("Example: nnefc run model_folder --input input=image.npy --outputs out.npz --threads 2");
  command->callback([options, &exit_code] { exit_code = options->Run(); });
}

}  // namespace nnefc::cli

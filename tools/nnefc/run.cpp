#include <chrono>

#include "compiler/driver/rules.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "tools/nnefc/check_finite.h"
#include "tools/nnefc/execution.h"
#include "tools/nnefc/misuse.h"

namespace nnefc::cli {
namespace {

using Json = nlohmann::ordered_json;

// Runs before the one that a profile is of.
constexpr int kWarmUpRuns = 2;

struct RunCommand : CommonOptions {
  ExecutionOptions execution;
  std::string compare;
  std::string tolerance = "approximate";
  bool profile = false;
  bool verbose = false;
  bool check_finite = false;

  int Run() {
    RequireExtension(output, {".npz"}, "`run` writes outputs to an `.npz`, each by its name");
    CompileOptions compile = compile_options();
    compile.random_weights = execution.random_weights;
    Compilation compilation(models.front(), compile);
    Reporter reporter(*this);
    std::optional<Execution> prepared = Prepare(compilation, execution, max_bytes);
    if (!prepared) return reporter.Report(compilation);
    auto start = std::chrono::steady_clock::now();
    std::optional<std::vector<TensorValue>> values = Execute(compilation, *prepared);
    std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    int exit_code = reporter.Report(compilation);
    if (!values) return exit_code;
    if (check_finite && !CheckFinite(compilation, *prepared)) exit_code = reporter.Report(compilation);
    report = {{"model", compilation.path()}};
    if (verbose) AddStages(compilation, *prepared, elapsed.count());
    if (profile) AddProfile(WarmProfile(*prepared));
    exit_code = std::max(exit_code, Deliver(compilation, *prepared, *values));
    if (output_format() != Format::kText) Print("{}\n", report.dump(2));
    return exit_code;
  }

  // The times of a run in a session of its own, behind some that warm it up.
  std::vector<runtime::StepProfile> WarmProfile(const Execution& prepared) const {
    const auto session = runtime::Session::Create(prepared.executable);
    for (int i = 0; i < kWarmUpRuns; ++i) {
      if (!session->Run(prepared.inputs)) return {};
    }
    session->EnableProfile(true);
    if (!session->Run(prepared.inputs)) return {};
    return session->profile();
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
    if (!output.empty()) {
      std::vector<NamedTensor> named;
      for (size_t i = 0; i < ports.size(); ++i) named.push_back({ports[i].name, values[i]});
      if (auto written = WriteNpz(output, named); !written) throw MisuseError(written.error().message);
    }
    if (!compare.empty()) {
      auto expected =
          ReadNpz(OpenInput(compare, compilation.context()), compilation.context(), {.max_bytes = max_bytes});
      if (!expected) return Reporter(*this).Report(compilation);
      return AddComparison(Compare(ports, values, *expected, tolerance)) ? kSuccess : kInvalid;
    }
    if (output.empty()) AddOutputs(ports, values);
    return kSuccess;
  }

  bool AddComparison(const std::vector<Comparison>& comparisons) {
    bool all = true;
    Json list = Json::array();
    for (const Comparison& comparison : comparisons) {
      all = all && comparison.within;
      if (IsText()) WriteStdout(comparison.text);
      Json entry = {{"name", comparison.name}, {"within", comparison.within}};
      if (comparison.difference) entry["difference"] = *comparison.difference;
      list.push_back(std::move(entry));
    }
    report["comparison"] = {{"tolerance", tolerance}, {"within", all}, {"outputs", std::move(list)}};
    return all;
  }

  void AddOutputs(const std::vector<runtime::Port>& ports, const std::vector<TensorValue>& values) {
    for (size_t i = 0; i < ports.size(); ++i) {
      const ValueSummary summary = Summarize(values[i]);
      if (IsText()) {
        Print("{} {}{}: {}\n", ports[i].name, Name(values[i].type()), ToString(values[i].shape()),
              ToText(summary));
        continue;
      }
      Json entry = {{"name", ports[i].name}, {"type", Name(values[i].type())}, {"shape", values[i].shape()}};
      if (summary.count > 0) {
        entry.update(Json{{"min", summary.lowest},
                          {"mean", summary.mean},
                          {"max", summary.highest},
                          {"not_finite", summary.not_finite}});
        entry["top"] = Json::array();
        for (const auto& [index, item] : summary.top)
          entry["top"].push_back(Json{{"index", index}, {"value", item}});
      }
      report["outputs"].push_back(std::move(entry));
    }
  }

  void AddStages(const Compilation& compilation, const Execution& prepared, double run_milliseconds) {
    const auto add = [&](std::string_view stage, double milliseconds) {
      if (IsText()) Print("{:<8}{}\n", stage, FormatTime(milliseconds));
      report["stages"].push_back(Json{{"stage", std::string(stage)}, {"milliseconds", milliseconds}});
    };
    for (const StageTime& time : compilation.times()) add(Name(time.stage), time.milliseconds);
    add("plan", prepared.plan_milliseconds);
    add("run", run_milliseconds);
  }

  void AddProfile(const std::vector<runtime::StepProfile>& steps) {
    report["profile"] = Json::array();
    for (const runtime::StepProfile& step : steps) {
      report["profile"].push_back(Json{{"milliseconds", step.milliseconds},
                                       {"operation", step.operation},
                                       {"name", step.name},
                                       {"shape", step.shape},
                                       {"kernel", step.kernel}});
    }
    if (IsText()) PrintProfile(steps);
  }

  static void PrintProfile(const std::vector<runtime::StepProfile>& steps) {
    double total = 0;
    for (const runtime::StepProfile& step : steps) total += step.milliseconds;
    Print("{:>9} {:>6}  {:<32} {:<36} {:<20} {}\n", "ms", "%", "operation", "name", "output", "kernel");
    for (const runtime::StepProfile& step : steps) {
      Print("{:>9.3f} {:>6.1f}  {:<32} {:<36} {:<20} {}\n", step.milliseconds,
            total > 0 ? 100 * step.milliseconds / total : 0.0, step.operation, step.name,
            ToString(step.shape), step.kernel);
    }
    Print("{:>9.3f} {:>6.1f}  all\n", total, 100.0);
  }

 private:
  bool IsText() const { return output_format() == Format::kText; }

  Json report;  // for the machine-readable forms
};

}  // namespace

void AddRun(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RunCommand>();
  CLI::App* command = app.add_subcommand("run", "execute a model on the CPU");
  AddCommonOptions(*command, *options, 1);
  AddExecutionOptions(*command, options->execution);
  command->add_option("-o,--output,--outputs", options->output, "the .npz to write outputs to, by name");
  command->add_option("--compare", options->compare, "an .npz with the expected outputs");
  command->add_option("--tolerance", options->tolerance, "of max|a-b| / max|b|: bitwise, 1e-6, 1e-4, 1e-2")
      ->check(OneOf({"exact", "close", "approximate", "very"}))
      ->capture_default_str();
  command->add_flag("--profile", options->profile, "print the time of each step of a warm run");
  command->add_flag("--check-finite", options->check_finite,
                    "name the inputs and weights that are not finite, and the first operation that makes "
                    "such a value from finite ones; exit code 1 if there is one");
  command->add_flag("--verbose", options->verbose, "print the time of each stage");
  command->footer("Example: nnefc run model_folder --input input=image.npy --outputs out.npz --threads 2");
  command->callback([options, &exit_code] { exit_code = options->Run(); });
}

}  // namespace nnefc::cli

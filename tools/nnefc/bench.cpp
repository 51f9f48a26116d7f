#include <algorithm>
#include <chrono>

#include "compiler/driver/rules.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "tools/nnefc/execution.h"
#include "tools/nnefc/misuse.h"
#include "tools/nnefc/reporter.h"

namespace nnefc::cli {
namespace {

struct BenchCommand : CommonOptions {
  ExecutionOptions execution;
  int iterations = 20;
  int warmup = 3;

  int Run() {
    CompileOptions compile = compile_options(models.front());
    compile.random_weights = execution.random_weights.value_or(1);
    if (!execution.random_inputs) execution.random_inputs = 1;
    Compilation compilation(ShownModel(models.front()), compile);
    Reporter reporter(*this);
    std::optional<Execution> prepared = Prepare(compilation, execution, max_bytes);
    if (!prepared) return reporter.Report(compilation);
    std::vector<double> times;
    for (int i = 0; i < warmup + iterations; ++i) {
      auto start = std::chrono::steady_clock::now();
      auto result = prepared->session->Run(prepared->inputs);
      std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
      if (!result) {
        compilation.context().emitter.Emit(kRunFailed, {}, "{}", result.error().message);
        return reporter.Report(compilation);
      }
      if (i >= warmup) times.push_back(elapsed.count());
    }
    PrintTimes(compilation, std::move(times));
    return reporter.Report(compilation);
  }

  void PrintTimes(const Compilation& compilation, std::vector<double> times) const {
    std::vector<double> sorted = times;
    std::sort(sorted.begin(), sorted.end());
    size_t middle = sorted.size() / 2;
    double median = sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    if (prints_text()) {
      Print("{}: median {:.3f} ms, fastest {:.3f} ms, slowest {:.3f} ms of {} runs\n", compilation.path(),
            median, sorted.front(), sorted.back(), sorted.size());
      return;
    }
    nlohmann::ordered_json json = {{"network", compilation.path()},    {"backend", execution.backend},
                                   {"threads", execution.threads},     {"iterations", iterations},
                                   {"milliseconds", std::move(times)}, {"median_ms", median}};
    Print("{}\n", json.dump());
  }
};

}  // namespace

void AddBench(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<BenchCommand>();
  CLI::App* command = app.add_subcommand("bench", "time a model; random data where it has none");
  AddCommonOptions(*command, *options, 1);
  AddExecutionOptions(*command, options->execution);
  command->add_option("--iterations", options->iterations, "runs that are timed")
      ->check(Between(1, 1000000))
      ->capture_default_str();
  command->add_option("--warmup", options->warmup, "runs before those")
      ->check(Between(0, 1000000))
      ->capture_default_str();
  command->footer("Example: nnefc bench model_folder --threads 1 --iterations 50");
  AddOutput(*command, options->output, "the file to write the times to; standard output without it");
  command->callback(
      [options, &exit_code] { exit_code = WithOutput(options->output, [&] { return options->Run(); }); });
}

}  // namespace nnefc::cli

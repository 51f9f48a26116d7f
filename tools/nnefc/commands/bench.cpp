// The command `nnefc bench`: measures the execution time of a model.

#include <algorithm>

#include "fmt/core.h"
#include "nlohmann/json.hpp"
#include "tools/api/executable.h"
#include "tools/api/facts/machine.h"
#include "tools/api/values/measure_runs.h"
#include "tools/nnefc/arguments/execution.h"
#include "tools/nnefc/arguments/misuse.h"
#include "tools/nnefc/arguments/transform_options.h"
#include "tools/nnefc/output/output_name.h"
#include "tools/nnefc/output/reporter.h"

namespace nnefc::cli {
namespace {

struct BenchCommand : CommonOptions {
  ExecutionOptions execution;
  driver::TransformOptions transform;
  api::MeasureOptions runs;

  int Run() {
    RequireReportName(output, output_format());
    driver::CompileOptions compile = compile_options(models.front());
    compile.executes = true;
    compile.random_weights = execution.random_weights.value_or(1);
    compile.transform = transform;
    compile.open.reads_data = true;
    if (!execution.random_inputs) execution.random_inputs = 1;
    // Streams share the threads of a single stream.
    if (execution.threads == 0 && runs.streams > 1)
      execution.threads = std::max(1, api::AvailableThreads() / runs.streams);
    api::Program program(ShownModel(models.front()), compile);
    Reporter reporter(*this);
    std::optional<api::Execution> prepared = Prepare(program, execution, max_bytes);
    if (!prepared) return reporter.Report(program);
    const std::optional<api::MeasuredRuns> measured = [&] {
      Progress progress(program);
      progress.Show("measure runs");
      return api::MeasureRuns(program, *prepared, runs);
    }();
    if (measured) PrintTimes(program.compilation().path(), *measured);
    return reporter.Report(program);
  }

  void PrintTimes(const std::string& model, const api::MeasuredRuns& measured) const {
    const api::RunStatistics times = api::StatisticsOf(measured);
    if (prints_text()) {
      Print("{}: median {:.3f} ms, fastest {:.3f} ms, slowest {:.3f} ms of {} runs{}\n", model, times.median,
            times.fastest, times.slowest, measured.milliseconds.size(),
            runs.streams > 1
                ? fmt::format("; {} streams, {:.1f} runs a second", runs.streams, times.runs_per_second)
                : "");
      Print("average {:.3f} ms, 90 % within {:.3f} ms, 99 % within {:.3f} ms; {:.1f} runs a second\n",
            times.mean, times.percentile90, times.percentile99, times.runs_per_second);
      return;
    }
    nlohmann::ordered_json json = {{"model", model},
                                   {"backend", execution.backend},
                                   {"precision", api::WordOf(*api::PrecisionCalled(execution.precision))},
                                   {"threads", execution.threads},
                                   {"streams", runs.streams},
                                   {"iterations", runs.iterations},
                                   {"milliseconds", measured.milliseconds},
                                   {"median_ms", times.median},
                                   {"runs_per_second", times.runs_per_second},
                                   {"mean_ms", times.mean},
                                   {"fastest_ms", times.fastest},
                                   {"p90_ms", times.percentile90},
                                   {"p99_ms", times.percentile99},
                                   {"slowest_ms", times.slowest}};
    Print("{}\n", json.dump(2));
  }
};

}  // namespace

void AddBench(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<BenchCommand>();
  CLI::App* command = app.add_subcommand("bench", "time a model; random data where it has none");
  AddCommonOptions(*command, *options, 1, ModelKind::kAny, ReportForms::kResult);
  AddQuantize(*command, *options);
  AddExecutionOptions(*command, options->execution);
  AddTransformOptions(*command, options->transform);
  command->add_option("--iterations", options->runs.iterations, "runs that are timed")
      ->type_name("N")
      ->check(Between(1, 1000000))
      ->capture_default_str();
  command->add_option("--warmup", options->runs.warmup, "runs before those")
      ->type_name("N")
      ->check(Between(0, 1000000))
      ->capture_default_str();
  command
      ->add_option("--streams", options->runs.streams, "sessions that run side by side and share the weights")
      ->check(Between(1, api::kMaxThreads))
      ->type_name("N")
      ->capture_default_str();
  command->footer(
      "Examples:\n"
      "  nnefc bench model_folder --threads 1 --iterations 50\n"
      "  nnefc bench model_folder --streams 2");
  AddOutput(*command, options->output, "the file to write the times to; standard output without it");
  command->callback(
      [options, &exit_code] { exit_code = WithOutput(options->output, [&] { return options->Run(); }); });
}

}  // namespace nnefc::cli

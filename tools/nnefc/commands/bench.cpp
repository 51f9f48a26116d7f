// The command `nnefc bench`: measures the execution time of a model.

#include <algorithm>
#include <barrier>
#include <chrono>
#include <system_error>
#include <thread>

#include "compiler/driver/rules.h"
#include "fmt/core.h"
#include "llvm/ADT/STLExtras.h"
#include "nlohmann/json.hpp"
#include "tools/api/executable.h"
#include "tools/api/facts/machine.h"
#include "tools/nnefc/arguments/execution.h"
#include "tools/nnefc/arguments/misuse.h"
#include "tools/nnefc/arguments/transform_options.h"
#include "tools/nnefc/output/output_name.h"
#include "tools/nnefc/output/reporter.h"

namespace nnefc::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Consecutive runs of one session.
struct Stream {
  std::unique_ptr<runtime::engine::Session> session;
  std::vector<double> milliseconds = {};
  std::optional<runtime::kernels::Fault> fault = std::nullopt;

  bool Run(const std::vector<TensorValue>& inputs, int runs) {
    for (int i = 0; i < runs && !fault; ++i) {
      const Clock::time_point start = Clock::now();
      auto result = session->Run(inputs);
      const std::chrono::duration<double, std::milli> elapsed = Clock::now() - start;
      milliseconds.push_back(elapsed.count());
      if (!result) fault = result.error();
    }
    return !fault.has_value();
  }
};

struct BenchCommand : CommonOptions {
  ExecutionOptions execution;
  driver::TransformOptions transform;
  int iterations = 20;
  int warmup = 3;
  int streams = 1;

  int Run() {
    RequireReportName(output, output_format());
    driver::CompileOptions compile = compile_options(models.front());
    compile.executes = true;
    compile.random_weights = execution.random_weights.value_or(1);
    compile.transform = transform;
    compile.open.reads_data = true;
    if (!execution.random_inputs) execution.random_inputs = 1;
    // Streams share the threads of a single stream.
    if (execution.threads == 0 && streams > 1)
      execution.threads = std::max(1, api::AvailableThreads() / streams);
    api::Program program(ShownModel(models.front()), compile);
    driver::Compilation& compilation = program.compilation();
    Reporter reporter(*this);
    std::optional<api::Execution> prepared = Prepare(program, execution, max_bytes);
    if (!prepared) return reporter.Report(compilation);
    std::vector<Stream> all(static_cast<size_t>(streams));
    for (Stream& stream : all) stream.session = runtime::engine::Session::Create(prepared->executable);
    const double seconds = RunAll(all, prepared->inputs);
    prepared->executable->TakeWarnings(compilation.context().emitter);
    const auto failed = llvm::find_if(all, [](const Stream& stream) { return stream.fault.has_value(); });
    if (failed != all.end()) {
      runtime::kernels::Emit(*failed->fault, compilation.context().emitter);
    } else {
      PrintTimes(compilation, all, seconds);
    }
    return reporter.Report(compilation);
  }

  // Runs all streams concurrently. Returns the total time of the measured runs in seconds.
  double RunAll(std::vector<Stream>& all, const std::vector<TensorValue>& inputs) const {
    Clock::time_point start;
    // Sets the start time when all streams have warmed up.
    std::barrier warm(static_cast<std::ptrdiff_t>(all.size()), [&]() noexcept { start = Clock::now(); });
    const auto run = [&](Stream& stream) {
      const bool ran = stream.Run(inputs, warmup);
      stream.milliseconds.clear();
      warm.arrive_and_wait();
      if (ran) stream.Run(inputs, iterations);
    };
    {
      std::vector<std::jthread> threads;
      for (Stream& stream : llvm::drop_begin(all)) {
        try {
          threads.emplace_back([&] { run(stream); });
        } catch (const std::system_error&) {
          stream.fault =
              runtime::kernels::FaultOf(runtime::kernels::kRunFailed, "the system starts no more threads");
          warm.arrive_and_drop();
        }
      }
      run(all.front());
    }
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  void PrintTimes(const driver::Compilation& compilation, const std::vector<Stream>& all,
                  double seconds) const {
    std::vector<double> times;
    for (const Stream& stream : all) llvm::append_range(times, stream.milliseconds);
    std::vector<double> sorted = times;
    std::sort(sorted.begin(), sorted.end());
    size_t middle = sorted.size() / 2;
    double median = sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    const double rate = static_cast<double>(times.size()) / seconds;
    if (prints_text()) {
      Print("{}: median {:.3f} ms, fastest {:.3f} ms, slowest {:.3f} ms of {} runs{}\n", compilation.path(),
            median, sorted.front(), sorted.back(), sorted.size(),
            streams > 1 ? fmt::format("; {} streams, {:.1f} runs a second", streams, rate) : "");
      return;
    }
    nlohmann::ordered_json json = {{"model", compilation.path()},
                                   {"backend", execution.backend},
                                   {"precision", api::WordOf(*api::PrecisionCalled(execution.precision))},
                                   {"threads", execution.threads},
                                   {"streams", streams},
                                   {"iterations", iterations},
                                   {"milliseconds", std::move(times)},
                                   {"median_ms", median},
                                   {"runs_per_second", rate}};
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
  command->add_option("--iterations", options->iterations, "runs that are timed")
      ->type_name("N")
      ->check(Between(1, 1000000))
      ->capture_default_str();
  command->add_option("--warmup", options->warmup, "runs before those")
      ->type_name("N")
      ->check(Between(0, 1000000))
      ->capture_default_str();
  command->add_option("--streams", options->streams, "sessions that run side by side and share the weights")
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

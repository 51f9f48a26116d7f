// Measurement of the execution time of models.

#include "tools/api/values/measure_runs.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <memory>
#include <numeric>
#include <system_error>
#include <thread>

#include "llvm/ADT/STLExtras.h"
#include "runtime/kernels/rules.h"

namespace nnefc::api {
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

// Runs all streams concurrently. Returns the total time of the measured runs in seconds.
double RunAll(std::vector<Stream>& all, const std::vector<TensorValue>& inputs,
              const MeasureOptions& options) {
  Clock::time_point start;
  // Sets the start time when all streams have warmed up.
  std::barrier warm(static_cast<std::ptrdiff_t>(all.size()), [&]() noexcept { start = Clock::now(); });
  const auto run = [&](Stream& stream) {
    const bool ran = stream.Run(inputs, options.warmup);
    stream.milliseconds.clear();
    warm.arrive_and_wait();
    if (ran) stream.Run(inputs, options.iterations);
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

// Returns the time that exceeds `share` of the sorted times.
double Percentile(const std::vector<double>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

RunStatistics StatisticsOf(const MeasuredRuns& measured) {
  std::vector<double> sorted = measured.milliseconds;
  NNEFC_CHECK(!sorted.empty());
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<double>(sorted.size());
  return {.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / count,
          .fastest = sorted.front(),
          .median = Percentile(sorted, 0.5),
          .percentile90 = Percentile(sorted, 0.9),
          .percentile99 = Percentile(sorted, 0.99),
          .slowest = sorted.back(),
          .runs_per_second = measured.seconds > 0 ? count / measured.seconds : 0.0};
}

std::optional<MeasuredRuns> MeasureRuns(Program& program, const Execution& execution,
                                        const MeasureOptions& options) {
  std::vector<Stream> all(static_cast<size_t>(options.streams));
  for (Stream& stream : all) stream.session = runtime::engine::Session::Create(execution.executable);
  MeasuredRuns measured;
  measured.seconds = RunAll(all, execution.inputs, options);
  Emitter& emitter = program.compilation().context().emitter;
  execution.executable->TakeWarnings(emitter);
  for (const Stream& stream : all) {
    if (stream.fault) {
      runtime::kernels::Emit(*stream.fault, emitter);
      return std::nullopt;
    }
    llvm::append_range(measured.milliseconds, stream.milliseconds);
  }
  return measured;
}

}  // namespace nnefc::api

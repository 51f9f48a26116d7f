#pragma once

#include <optional>
#include <vector>

#include "tools/api/program.h"

namespace nnefc::api {

// The runs of a measurement.
struct MeasureOptions {
  int iterations = 20;  // measured runs of each stream
  int warmup = 3;       // runs before those
  int streams = 1;      // sessions that run concurrently and share the weights
};

struct MeasuredRuns {
  std::vector<double> milliseconds;  // of each run, by stream
  double seconds = 0;                // in total
};

// The times of runs in milliseconds. Percentiles between two runs are interpolated linearly.
struct RunStatistics {
  double mean = 0;
  double fastest = 0;
  double median = 0;
  double percentile90 = 0;
  double percentile99 = 0;
  double slowest = 0;
  double runs_per_second = 0;
};
// Requires at least one run.
RunStatistics StatisticsOf(const MeasuredRuns& measured);

// Measures runs of a prepared model. Emits warnings and faults, and returns nothing after a fault.
[[nodiscard]] std::optional<MeasuredRuns> MeasureRuns(Program& program, const Execution& execution,
                                                      const MeasureOptions& options);

}  // namespace nnefc::api

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

// Measures runs of a prepared model. Emits warnings and faults, and returns nothing after a fault.
[[nodiscard]] std::optional<MeasuredRuns> MeasureRuns(Program& program, const Execution& execution,
                                                      const MeasureOptions& options);

}  // namespace nnefc::api

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/api/program.h"
#include "tools/api/values/compare.h"

namespace nnefc::api {

// The search for the transformation that changes the outputs of a model.
struct BisectOptions {
  std::string model;
  driver::CompileOptions compile;
  RunOptions run;
  Tolerance tolerance;
  // Prepares a program, with RunOptions `run`, for instance with a display of its progress.
  std::function<std::optional<Execution>(Program&)> prepare;
  // Receives the diagnostics of a compilation: those of the first, and later errors. Returns false to stop.
  std::function<bool(Program&)> report;
};

struct Bisection {
  size_t num_transformations = 0;  // enabled ones
  // The first transformation whose result exceeds the tolerance; empty if there is none.
  std::string transformation;
  std::string differences;         // lines of text
  std::vector<std::string> nodes;  // new nodes of the outermost graph: "`name` (Type)"
};

// Compares the outputs of a model after each half of its transformations with those of the untransformed
// model. Returns nothing after `report` returned false, or after an error in the options of transformations
// was emitted to `context`; `environment_failed` is set if a file cannot be read.
[[nodiscard]] std::optional<Bisection> Bisect(const BisectOptions& options, Context& context,
                                              bool& environment_failed);

}  // namespace nnefc::api

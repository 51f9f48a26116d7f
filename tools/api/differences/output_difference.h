#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tools/api/differences/model_difference.h"
#include "tools/api/program.h"
#include "tools/api/values/compare.h"

namespace nnefc::api {

// Two models whose outputs are compared.
struct OutputOptions {
  std::string old_model;
  std::string new_model;
  driver::CompileOptions old_compile;
  driver::CompileOptions new_compile;
  Tolerance tolerance;
  // Prepares a program that also computes the values of `dump`, see RunOptions::dump.
  std::function<std::optional<Execution>(Program& program, const std::vector<std::string>& dump)> prepare;
  // Receives the diagnostics of a run. Returns false to stop.
  std::function<bool(Program&)> report;
};

// The comparison of the outputs of two models for equal inputs.
struct OutputsOfModels {
  bool within = true;
  std::string text;               // lines
  std::optional<ItemPair> first;  // the first operation beyond the tolerance, as nodes of the outlines
  // {"within", "outputs": as in api::CompareValues, "first": {"operation", "old", "new", "comparison"}}
  nlohmann::ordered_json json;
};

// Runs both models on the inputs of the old one, matched by name or else by their order, and compares
// outputs in the same manner. If some leave the tolerance, runs both again without nnefc's transformations
// to find the first operation whose results leave it, in the order of the new graph. Returns nothing after
// `report` returned false.
[[nodiscard]] std::optional<OutputsOfModels> CompareOutputs(const OutputOptions& options,
                                                            const ModelDifference& difference,
                                                            const ComparedGraph& before,
                                                            const ComparedGraph& after);

}  // namespace nnefc::api

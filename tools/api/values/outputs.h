#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tools/api/program.h"
#include "tools/api/values/compare.h"

namespace nnefc::api {

// A value that a run computes: an output of the model, or one named by RunOptions::dump.
struct ComputedValue {
  package::NamedTensor tensor;
  bool is_output = false;
};

// Returns the results of a run with their names: dumped values, then outputs.
std::vector<ComputedValue> NameResults(const Execution& execution, const std::vector<TensorValue>& results);

// Write an .npz, each tensor by its name.
ErrorOr<Success> WriteInputs(const std::string& path, const Execution& execution);
ErrorOr<Success> WriteValues(const std::string& path, const std::vector<ComputedValue>& values);

// Reads the expected tensors of an .npz by name, or the tensor of a .npy or .dat file for the only output.
// `max_bytes` limits the unpacked size of an archive. Returns no value after an error was emitted, and an
// error for a file that cannot be opened or does not fit the outputs.
ErrorOr<std::optional<std::vector<package::NamedTensor>>> ReadExpected(const std::string& path,
                                                                       const Execution& execution,
                                                                       uint64_t max_bytes, Context& context);

// Compares all outputs, but only those dumped values that have an expected tensor. Names do not count if
// there is one output and one expected tensor. The JSON object has the members `tolerance`, `within`,
// `outputs` and `surplus`, the names of expected tensors without an output.
Comparison CompareValues(const std::vector<ComputedValue>& values, std::vector<package::NamedTensor> expected,
                         const Tolerance& tolerance);

// Returns a summary of each value: type, shape, range and, for outputs, the highest elements.
std::string ValuesText(const std::vector<ComputedValue>& values);
// Adds the same to the lists `outputs` and `values` of a JSON object.
void AddValues(const std::vector<ComputedValue>& values, nlohmann::ordered_json& json);

}  // namespace nnefc::api

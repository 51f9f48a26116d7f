#pragma once

#include <string>

#include "compiler/support/error_or.h"
#include "nlohmann/json.hpp"

namespace nnefc::api {

// Adds the times in a file that `nnefc run --profile --format json` wrote to the description of the lowered
// graph of the same model. A step of the profile belongs to the node of its name. Such nodes get
//
//   "milliseconds": .., "arithmetic": operations of numbers, "bytes": read and written, "kernel": ..
//
// as sums if several steps have the name, and the description gets
//
//   "profile": {"milliseconds": of all steps, "steps": .., "without_node": steps,
//   "peak_operations_per_second": ..}
//
// Returns an error if the file cannot be read, is no profile, or if fewer than half of the steps
// have the name of a node.
ErrorOr<Success> AddMeasuredTimes(const std::string& path, nlohmann::ordered_json& description);

}  // namespace nnefc::api

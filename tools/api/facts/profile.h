#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "runtime/engine/executable.h"

namespace nnefc::api {

using Profile = std::vector<runtime::engine::StepProfile>;

enum class StepOrder : uint8_t { kExecution, kTime };

// Returns a table of the time, speed and implementation of each step, and their totals: in the order of
// execution, or slowest first. `peak` is the highest number of arithmetic operations per second of the
// processor (MeasurePeak).
std::string ProfileText(const Profile& profile, double peak, StepOrder order);
// Returns the same as a list of objects in the order of execution; sizes in bytes, times in milliseconds.
nlohmann::ordered_json ProfileJson(const Profile& profile);

// Return the number, time and speed of the steps of each kernel, slowest first.
std::string KernelsText(const Profile& profile, double peak);
nlohmann::ordered_json KernelsJson(const Profile& profile);

// Return the implementation of each step, and the reasons why others of its operation were rejected.
std::string ImplementationsText(const Profile& profile);
nlohmann::ordered_json ImplementationsJson(const Profile& profile);

// "12 ms", "1.25 s"
std::string TimeText(double milliseconds);

}  // namespace nnefc::api

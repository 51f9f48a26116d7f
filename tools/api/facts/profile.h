#pragma once

#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "runtime/engine/executable.h"

namespace nnefc::api {

using Profile = std::vector<runtime::engine::StepProfile>;

// Returns a table of the time, speed and implementation of each step, and their totals. `peak` is the highest
// number of arithmetic operations per second of the processor (MeasurePeak).
std::string ProfileText(const Profile& profile, double peak);
// Returns the same as a list of objects; sizes in bytes, times in milliseconds.
nlohmann::ordered_json ProfileJson(const Profile& profile);

// Return the implementation of each step, and the reasons why others of its operation were rejected.
std::string ImplementationsText(const Profile& profile);
nlohmann::ordered_json ImplementationsJson(const Profile& profile);

// "12 ms", "1.25 s"
std::string TimeText(double milliseconds);

}  // namespace nnefc::api

#pragma once

#include <filesystem>

namespace nnefc::runtime {

// How many processors' time the control group of this process may use, as
// containers are bounded: rounded up, 0 without a bound. The groups around it
// count too. `root` is where /proc and /sys are.
int ProcessorsOfControlGroup(const std::filesystem::path& root = "/");

}  // namespace nnefc::runtime

#pragma once

#include <filesystem>

namespace nnefc::runtime::tensor {

// Returns the CPU limit (cgroup v2) of this process in processors, rounded up; 0 if unlimited. Limits of
// enclosing groups also apply. `root` is the parent of /proc and /sys.
int ProcessorsOfControlGroup(const std::filesystem::path& root = "/");

}  // namespace nnefc::runtime::tensor

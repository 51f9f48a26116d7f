#pragma once

#include <string>
#include <string_view>

#include "tools/api/program.h"

namespace nnefc::api {

// Returns true if the value of a command's `--target` is the path of a device profile: it ends in `.json`.
bool IsDeviceProfile(std::string_view target);

// Checks a model and the data of its variables, then its operations and tensors against the device profile at
// `profile`. Emits errors for mistakes in the profile, too, whether the model is valid or not. Sets
// `environment_failed` if the profile cannot be read. Returns true if there is no error.
[[nodiscard]] bool CheckForDevice(Program& program, const std::string& profile, bool& environment_failed);

}  // namespace nnefc::api

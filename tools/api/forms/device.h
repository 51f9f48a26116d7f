#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/driver/stages/convert_model.h"
#include "tools/api/program.h"

namespace nnefc::api {

// Returns true if the value of a command's `--target` is the path of a device profile: it ends in `.json`.
bool IsDeviceProfile(std::string_view target);

// Checks a model and the data of its variables, then its operations and tensors against the device profile at
// `profile`. Emits errors for mistakes in the profile, too, whether the model is valid or not. Sets
// `environment_failed` if the profile cannot be read. Returns true if there is no error.
[[nodiscard]] bool CheckForDevice(Program& program, const std::string& profile, bool& environment_failed);
// The same for the graph of an expanded program, without the language of its document.
[[nodiscard]] bool CheckGraphForDevice(Program& program, const std::string& profile,
                                       bool& environment_failed);

// Returns the standard compounds of an expanded program that the device lacks and whose bodies have
// operations that it has; nothing after an error in the profile. `environment_failed` as above.
[[nodiscard]] std::optional<std::vector<std::string>> CompoundsForDevice(Program& program,
                                                                         const std::string& profile,
                                                                         bool& environment_failed);

// Expands the compounds of a converted model that the device lacks, and checks the result. Emits errors to
// the program that was converted, `source`, and returns false after one. `environment_failed` as above.
[[nodiscard]] bool AdaptToDevice(Program& source, driver::ConvertedModel& model, const std::string& profile,
                                 bool& environment_failed);

}  // namespace nnefc::api

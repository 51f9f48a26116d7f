#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/device/profile.h"
#include "compiler/driver/stages/convert_model.h"
#include "tools/api/program.h"

namespace nnefc::api {

// Returns true if the value of a command's `--target` is the path of a device profile: it ends in `.json`.
bool IsDeviceProfile(std::string_view target);

// The profile of a device. Its file is read once, for all programs of a command.
class DeviceProfile {
 public:
  explicit DeviceProfile(std::string path) : path_(std::move(path)) {}

  // Returns the profile with source ranges in texts of `context`; nothing after an error, which it emits.
  [[nodiscard]] std::optional<device::Profile> ReadFor(Context& context);
  // True if the file could not be read.
  bool environment_failed() const { return environment_failed_; }

 private:
  std::string path_;
  std::optional<std::string> text_;
  bool environment_failed_ = false;
};

// Checks a model and the data of its variables, then its operations and tensors against a device profile.
// Emits errors for mistakes in the profile, too, whether the model is valid or not. Returns true if there is
// no error.
[[nodiscard]] bool CheckForDevice(Program& program, DeviceProfile& profile);
// The same for the graph of an expanded program, without the language of its document.
[[nodiscard]] bool CheckGraphForDevice(Program& program, DeviceProfile& profile);
// Checks the language of a ratified document, which was written for a program: its extensions and fragments.
[[nodiscard]] bool CheckTextForDevice(Program& program, const std::string& document, DeviceProfile& profile);

// Sets the options of a model so that its expansion has operations of the device where it lacks those of
// the document: standard compounds are expanded, and attribute values replaced (device/replace_attributes.h).
// Skips models and profiles with errors, which the program of the options and CheckGraphForDevice report.
void AdaptOptions(const std::string& model, driver::CompileOptions& options, DeviceProfile& profile);

// Adapts a converted model to a device in the same way, and checks the result. Emits errors to the program
// that was converted, `source`, and returns false after one.
[[nodiscard]] bool AdaptToDevice(Program& source, driver::ConvertedModel& model, DeviceProfile& profile);

}  // namespace nnefc::api

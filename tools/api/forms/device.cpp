// The check of a model for a device.

#include "tools/api/forms/device.h"

#include "compiler/device/check_device.h"
#include "compiler/device/read_profile.h"

namespace nnefc::api {

bool IsDeviceProfile(std::string_view target) {
  return target.ends_with(".json");
}

bool CheckForDevice(Program& program, const std::string& profile, bool& environment_failed) {
  const bool is_valid = program.Check();
  driver::Compilation& compilation = program.compilation();
  const auto read = device::ReadProfile(profile, compilation.context(), environment_failed);
  if (is_valid && read) device::CheckDevice(compilation, *read);
  return !compilation.context().emitter.has_errors();
}

}  // namespace nnefc::api

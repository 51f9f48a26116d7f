#pragma once

#include "compiler/device/profile.h"
#include "compiler/driver/compilation.h"

namespace nnefc::device {

// Checks the valid document of a compilation that ran through Stage::kExpand against a profile. Emits an
// error for each violation, with the entry of the profile. Requires that the context of the compilation has
// the text of the profile.
void CheckDevice(driver::Compilation& compilation, const Profile& profile);

}  // namespace nnefc::device

#pragma once

#include <string>
#include <vector>

#include "compiler/device/profile.h"
#include "compiler/driver/compilation.h"

namespace nnefc::device {

// Checks the valid document of a compilation that ran through Stage::kExpand against a profile. Emits an
// error for each violation, with the entry of the profile. Requires that the context of the compilation has
// the text of the profile.
void CheckDevice(driver::Compilation& compilation, const Profile& profile);

// Returns the standard compounds that a profile does not list and that decompose into operations that it
// lists, sorted: those to expand for the device.
std::vector<std::string> CompoundsToExpand(const Profile& profile, const semantics::StandardLibrary& library);

}  // namespace nnefc::device

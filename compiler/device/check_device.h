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
// The same for the language of the document alone: its dialect, extensions and fragments. Requires
// Stage::kCheck.
void CheckDeviceLanguage(driver::Compilation& compilation, const Profile& profile);
// The same for the graph and the weights, without the language of the document, of which another one is
// written.
void CheckDeviceGraph(driver::Compilation& compilation, const Profile& profile);

// Returns the standard compounds to expand so that the profile lists the operations of their bodies, sorted.
// Operations that the profile lists, or that have no such body, are skipped. Requires an expanded document.
std::vector<std::string> CompoundsToExpand(const driver::Compilation& compilation, const Profile& profile);

}  // namespace nnefc::device

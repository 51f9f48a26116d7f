#pragma once

#include <optional>
#include <string>

#include "compiler/device/profile.h"
#include "compiler/support/context.h"

namespace nnefc::device {

// Opens the file of a profile. Emits an error and returns nothing if it cannot be read.
[[nodiscard]] std::optional<FileId> OpenProfile(const std::string& path, Context& context);
// Reads the profile of a device, a JSON text of the context (README.md). Unknown keys, operations, inputs and
// attributes, wrong values, duplicate keys, invalid JSON and texts of more than 1 MiB are diagnostics with
// line and column (device.profile-*); then there is no result.
[[nodiscard]] std::optional<Profile> ReadProfileText(FileId file, Context& context);

}  // namespace nnefc::device

#pragma once

#include <optional>
#include <string>

#include "compiler/device/profile.h"
#include "compiler/support/context.h"

namespace nnefc::device {

// Reads the profile of a device, a JSON file (README.md). Unknown keys, operations, inputs and attributes,
// wrong values, duplicate keys, invalid JSON and files of more than 1 MiB are diagnostics with line and
// column (device.profile-*); then there is no result. An unreadable file is emitted, too, and sets
// `environment_failed`.
[[nodiscard]] std::optional<Profile> ReadProfile(const std::string& path, Context& context,
                                                 bool& environment_failed);
// Same, for a text of the context.
[[nodiscard]] std::optional<Profile> ReadProfileText(FileId file, Context& context);

}  // namespace nnefc::device

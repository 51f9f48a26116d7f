#pragma once

#include <string>

#include "compiler/lint/settings.h"
#include "compiler/support/context.h"

namespace nnefc::lint {

// The name of a project's configuration file.
inline constexpr std::string_view kConfigName = ".nnefc.json";

// Finds the configuration of the model at `path`: the first `.nnefc.json` in the document's folder (or the
// model folder itself) or one of its ancestors. Returns an empty path if there is none, and a path relative
// to the current folder if it is below that.
std::string FindConfig(const std::string& path);

// Reads a configuration:
//
//     {"lint": {"enable": ["khronos-parser"], "disable": ["unused-fragment"],
//               "levels": {"lint.unused-tensor": "error"}}}
//
// `enable` and `disable` may contain "all". Unknown keys and rules, values of the wrong type, invalid JSON
// and files of more than 1 MiB are diagnostics with line and column (config.*); valid entries still apply.
// Duplicate keys are diagnostics, too, and the last one applies. An unreadable file is emitted and sets
// `environment_failed`.
SettingsRequest ReadConfig(const std::string& path, Context& context, bool& environment_failed);
// Same, for a text of the context.
SettingsRequest ReadConfigText(FileId file, Context& context);

}  // namespace nnefc::lint

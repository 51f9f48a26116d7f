#pragma once

#include <string>

#include "compiler/lint/settings.h"
#include "compiler/support/context.h"

namespace nnefc::lint {

// The name of the configuration file of a project.
inline constexpr std::string_view kConfigName = ".nnefc.json";

// Finds the configuration of the model at `path`: the first `.nnefc.json` in
// the folder that holds the document (a model folder itself), or in one of
// those above it. Empty if there is none. Told relative to the current folder
// where it lies below that.
std::string FindConfig(const std::string& path);

// Reads a configuration:
//
//     {"lint": {"enable": ["khronos-parser"], "disable": ["unused-fragment"],
//               "levels": {"lint.unused-tensor": "error"}}}
//
// `enable` and `disable` may hold "all". Unknown keys and rules, values of
// another type, damaged JSON and files of more than 1 MiB are diagnostics at
// their line and column (config.*); what is right counts all the same. So are
// keys that stand twice, of which the later one counts. `environment_failed` is
// set if the file cannot be read, which is emitted.
SettingsRequest ReadConfig(const std::string& path, Context& context, bool& environment_failed);

}  // namespace nnefc::lint

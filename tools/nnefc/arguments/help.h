#pragma once

#include "CLI/CLI.hpp"

namespace nnefc::cli {

// The groups of options in a command's help, in this order. Options without a group come first.
inline constexpr const char* kTransformationGroup = "Transformation options";
inline constexpr const char* kCommonGroup = "Common options";
// The limits of documents and runs, which `nnefc help limits` lists alone.
inline constexpr const char* kLimitGroup = "Limits";

// Configures `app` and its commands to print help within 80 columns: specific options first, common ones
// last.
void FormatHelp(CLI::App& app);

}  // namespace nnefc::cli

#pragma once

#include "CLI/CLI.hpp"

namespace nnefc::cli {

// The groups of options in a command's help, in this order; those that are in neither group come first.
inline constexpr const char* kTransformationGroup = "Transformation options";
inline constexpr const char* kCommonGroup = "Common options";

// Makes `app` and its commands print help that fits 80 columns: a command's own options first, common ones
// last.
void FormatHelp(CLI::App& app);

}  // namespace nnefc::cli

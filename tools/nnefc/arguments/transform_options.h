#pragma once

#include "CLI/CLI.hpp"
#include "tools/api/program.h"

namespace nnefc::cli {

struct CommonOptions;

// Adds the options that switch transformations to a command that lowers a model.
void AddTransformOptions(CLI::App& command, driver::TransformOptions& options);

// Prints all transformations in the order of execution: name, phase, kind, state and the source of that
// state. Returns the exit code.
int ListTransformations(const driver::TransformOptions& options, const CommonOptions& common);

}  // namespace nnefc::cli

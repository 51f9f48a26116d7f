#pragma once

#include "CLI/CLI.hpp"
#include "compiler/driver/compilation.h"

namespace nnefc::cli {

struct CommonOptions;

// Adds the options that switch transformations to a command that lowers a model.
void AddTransformOptions(CLI::App& command, driver::TransformOptions& options);

// Disables nnefc's own transformations that are not explicitly enabled, so that the document's tensors are
// computed rather than fused.
void KeepTensors(driver::TransformOptions& options);

// Prints all transformations in the order of execution: name, phase, kind, state and the source of that
// state. Returns the exit code.
int ListTransformations(const driver::TransformOptions& options, const CommonOptions& common);

}  // namespace nnefc::cli

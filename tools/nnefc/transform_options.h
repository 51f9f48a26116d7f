#pragma once

#include "CLI/CLI.hpp"
#include "compiler/driver/compilation.h"

namespace nnefc::cli {

struct CommonOptions;

// Adds to a command that lowers a model what switches transformations.
void AddTransformOptions(CLI::App& command, TransformOptions& options);

// Switches off what nnefc brings along and nobody enables: tensors of the document
// that it would fuse are computed.
void KeepTensors(TransformOptions& options);

// Prints every transformation in the order in which they run: name, phase, kind,
// and whether and by whom it is enabled. Returns the exit code.
int ListTransformations(const TransformOptions& options, const CommonOptions& common);

}  // namespace nnefc::cli

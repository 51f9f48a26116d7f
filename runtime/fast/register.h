#pragma once

#include "runtime/kernels/registry.h"

namespace nnefc::runtime {

// Registers the kernels of oneDNN, how to fuse and rewrite graphs for them,
// and reorders between their layouts.
void RegisterOneDnnKernels(KernelRegistry& registry);

}  // namespace nnefc::runtime

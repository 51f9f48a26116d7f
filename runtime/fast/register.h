#pragma once

#include "runtime/kernels/registry.h"

namespace nnefc::runtime {

// Registers the kernels of oneDNN, how to fuse steps with them, and
// reorders between their layouts.
void RegisterOneDnnKernels(KernelRegistry& registry);
// True if the processor multiplies numbers of bf16.
bool HasBf16();

}  // namespace nnefc::runtime

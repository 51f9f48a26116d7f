#pragma once

#include "runtime/kernels/registry.h"

namespace nnefc::runtime {

// One for each file of this folder that holds kernels.
void RegisterFourier(KernelRegistry& registry);
void RegisterUnique(KernelRegistry& registry);
void RegisterRandom(KernelRegistry& registry);
void RegisterColor(KernelRegistry& registry);

}  // namespace nnefc::runtime

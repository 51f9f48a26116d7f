#pragma once

#include "runtime/kernels/registry.h"

namespace nnefc::runtime::kernels::signal {

// One function per file of kernels in this folder.
void RegisterFourier(KernelRegistry& registry);
void RegisterUnique(KernelRegistry& registry);
void RegisterRandom(KernelRegistry& registry);
void RegisterColor(KernelRegistry& registry);

}  // namespace nnefc::runtime::kernels::signal

#pragma once

#include "runtime/kernels/registry.h"

namespace nnefc::runtime {

// One for each file of this folder that holds kernels.
void RegisterEmbedding(KernelRegistry& registry);
void RegisterSegments(KernelRegistry& registry);

}  // namespace nnefc::runtime

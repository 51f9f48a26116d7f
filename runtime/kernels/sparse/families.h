#pragma once

#include "runtime/kernels/registry.h"

namespace nnefc::runtime::kernels::sparse {

// One function per file of kernels in this folder.
void RegisterEmbedding(KernelRegistry& registry);
void RegisterSegments(KernelRegistry& registry);

}  // namespace nnefc::runtime::kernels::sparse

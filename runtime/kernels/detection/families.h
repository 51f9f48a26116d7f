#pragma once

#include "runtime/kernels/registry.h"

namespace nnefc::runtime {

// One for each file of this folder that holds kernels.
void RegisterClassSelection(KernelRegistry& registry);
void RegisterDeformable(KernelRegistry& registry);
void RegisterProposals(KernelRegistry& registry);
void RegisterPooledRegions(KernelRegistry& registry);

}  // namespace nnefc::runtime

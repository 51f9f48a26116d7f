#pragma once

#include "runtime/kernels/registry.h"

namespace nnefc::runtime::kernels::detection {

// One function per file of kernels in this folder.
void RegisterClassSelection(KernelRegistry& registry);
void RegisterDeformable(KernelRegistry& registry);
void RegisterProposals(KernelRegistry& registry);
void RegisterPooledRegions(KernelRegistry& registry);

}  // namespace nnefc::runtime::kernels::detection

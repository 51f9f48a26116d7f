#pragma once

#include "runtime/kernels/backend.h"
#include "runtime/kernels/registry.h"
#include "runtime/onednn/precision.h"  // IWYU pragma: export

namespace nnefc::runtime {

// Registers the kernels of the fast backend, its fusions, and reorders between its layouts.
void RegisterFastKernels(KernelRegistry& registry);
// Measures the peak f32 operations per second of `threads` threads (an FMA counts as two), in about 50 ms.
double MeasurePeak(int threads);

}  // namespace nnefc::runtime

#pragma once

#include "runtime/fast/processor.h"  // IWYU pragma: export
#include "runtime/kernels/backend.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime::fast {

class FastTables;

// What another library adds to the fast backend.
struct FastExtension {
  void (*add)(FastTables& tables) = nullptr;  // appends implementations
  // Makes the reorders of both, ours first.
  kernels::ReorderFactory make_reorder = nullptr;
};

// Registers the kernels of the fast backend, its fusions, and reorders between its layouts.
void RegisterFastKernels(kernels::KernelRegistry& registry, const FastExtension& extension);
// Measures the peak f32 operations per second of `threads` threads (an FMA counts as two), in about 50 ms.
double MeasurePeak(int threads);

}  // namespace nnefc::runtime::fast

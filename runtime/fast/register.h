#pragma once

#include <string>

#include "runtime/kernels/backend.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime {

// Registers the kernels of the fast backend, its fusions, and reorders between its layouts.
void RegisterOneDnnKernels(KernelRegistry& registry);
// Returns the reason if oneDNN was needed but could not be loaded; otherwise empty.
std::string FaultOfOneDnn();
// Returns true if the processor has bf16 instructions.
bool HasBf16();
// Returns the effective precision: f32 for bf16 if the processor lacks bf16 instructions, or multiplies f32
// faster and the user did not set oneDNN's instruction set.
Precision PrecisionHere(Precision precision);
// Measures the peak f32 operations per second of `threads` threads (an FMA counts as two), in about 50 ms.
double MeasurePeak(int threads);

}  // namespace nnefc::runtime

#pragma once

#include <string>

#include "runtime/kernels/backend.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime {

// Registers the kernels of oneDNN, how to fuse steps with them, and
// reorders between their layouts.
void RegisterOneDnnKernels(KernelRegistry& registry);
// Why oneDNN, which a kernel asked for, cannot be loaded; empty otherwise.
std::string FaultOfOneDnn();
// True if the processor multiplies numbers of bf16.
bool HasBf16();
// What is computed where a user asks for `precision`: f32 for bf16 where the processor has no products of it,
// or multiplies f32 faster and nobody has told oneDNN which instructions to take.
Precision PrecisionHere(Precision precision);
// How many operations of f32 a second `threads` threads of this processor reach, a product and
// its addition being two; measured, in some 50 ms.
double MeasurePeak(int threads);

}  // namespace nnefc::runtime

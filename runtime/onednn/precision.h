// The state of the oneDNN library, and the precision that the processor offers.
#pragma once

#include <string>

#include "runtime/kernels/backend.h"

namespace nnefc::runtime {

// Returns the reason if oneDNN was needed but could not be loaded; otherwise empty.
std::string OneDnnLoadError();

// Returns true if the processor has bf16 instructions.
bool HasBf16();

// Returns the effective precision: f32 for bf16 if the processor lacks bf16 instructions, or multiplies f32
// faster and the user did not set oneDNN's instruction set.
Precision EffectivePrecision(Precision precision);

}  // namespace nnefc::runtime

#pragma once

#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime::fast::simd {

// Returns true if the processor has the instruction set. Runs on every processor.
NNEFC_SIMD_FUNCTION(IsSupported, bool());

}  // namespace nnefc::runtime::fast::simd

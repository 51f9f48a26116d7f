#pragma once

#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime::fast::simd {

// FMA throughput benchmark: returns the operations of `rounds` rounds in registers. Starts with the
// kMaxSimdWidth floats of `out` and stores the result there, so that the loop is not optimised away.
NNEFC_SIMD_FUNCTION(MeasureFmaThroughput, double(int64_t rounds, float* out));

}  // namespace nnefc::runtime::fast::simd

// Sums over the pixels of nChw16c images.
#pragma once

#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime::fast::simd {

struct PixelDeviations {
  const float* x;     // pixels of a channel block
  const float* from;  // one per channel
  int64_t pixels;
};

// Compute kBlockColumns sums of the distances, and of their squares.
NNEFC_SIMD_FUNCTION(SumDeviations, void(const PixelDeviations& pixels, float* sums));
NNEFC_SIMD_FUNCTION(SumSquaredDeviations, void(const PixelDeviations& pixels, float* sums));

}  // namespace nnefc::runtime::fast::simd

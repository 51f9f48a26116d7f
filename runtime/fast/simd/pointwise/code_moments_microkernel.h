// Sums and normalization of the pixels of quantized images in NHWC.
#pragma once

#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime::fast::simd {

// Up to kBlockColumns channels of several pixels.
struct CodePixels {
  const uint8_t* from;
  int64_t step;      // between pixels
  int64_t channels;  // 1 to kBlockColumns
  int64_t pixels;
};

// Pixels whose squares have sums below 2^31.
inline constexpr int64_t kMaxSquaredPixels = 32768;
// Adds the values of up to kMaxSquaredPixels pixels, and their squares: kBlockColumns sums each.
NNEFC_SIMD_FUNCTION(SumCodes, void(const CodePixels& pixels, int64_t* values, int64_t* squares));

// Normalization by channel, with kBlockColumns numbers each: out = (code - mean) * factor, 0 for other
// channels of the block.
struct NormalizedCodes {
  CodePixels pixels;
  const float *mean, *factor;
  float* out;  // kBlockColumns per pixel
};
NNEFC_SIMD_FUNCTION(NormalizeCodes, void(const NormalizedCodes& codes));

}  // namespace nnefc::runtime::fast::simd

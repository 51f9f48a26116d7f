// int8 dot products for few outputs: the values of a filter row against those of each output, in whole
// vectors.
#pragma once

#include <bit>

#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime::fast::simd {

inline constexpr int64_t kMaxDotOutputs = 4;

struct FewOutputDots {
  const uint8_t* codes;
  const int32_t* seen;  // offset of the first tap of each pixel
  // Contiguous strips of values, as vectors of 4 * SimdWidth(), and the offset of each strip relative to a
  // pixel's first tap.
  const int32_t* strips;
  int64_t strip_count, vectors;
  const int8_t* weights;  // order: strip, vector, output; zeros after the end of a strip
  const int32_t* start;   // initial accumulators of the outputs
  int32_t* sums;          // order: output, pixel
  int64_t stride;         // distance between outputs
};
// Returns the pixels per call.
inline int64_t PixelsOfDots(int64_t outputs) {
  return SimdWidth() / static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(outputs)));
}
// Computes 1 to kMaxDotOutputs outputs of PixelsOfDots() pixels; requires HasVnni().
NNEFC_SIMD_FUNCTION(RunFewOutputDots, void(int64_t outputs, const FewOutputDots& dots));

}  // namespace nnefc::runtime::fast::simd

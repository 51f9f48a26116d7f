// Mean and variance, or norm, of a row in f32.
#pragma once

#include <optional>

#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime {

// A mean in two parts, because subtracting it from a nearby number is exact.
struct FloatMoments {
  float mean, rest;
  double variance;
};

// Returns true for rows short enough for f32 sums.
inline bool FitsFloatSums(int64_t terms) {
  constexpr int64_t kMinTerms = 16, kMaxTerms = 4096;
  return HasSimd() && terms >= kMinTerms && terms <= kMaxTerms;
}

// Computes two passes: distances from the first element, then squared distances from the mean. Returns
// nothing if squares leave the f32 range. Requires FitsFloatSums.
NNEFC_SIMD_FUNCTION(ComputeFloatMoments, std::optional<FloatMoments>(const float* x, int64_t terms));

// Rows divided by their norms: the root of the sum of squares, with `eps` added or as minimum. Requires
// FitsFloatSums.
struct NormalizedRows {
  const float* x;
  int64_t stride;  // row stride of x
  float* out;      // consecutive rows
  int64_t rows, terms;
  float eps;
  bool adds;
};
// Returns the number of leading rows computed, up to a row whose squares leave the f32 range.
NNEFC_SIMD_FUNCTION(NormalizeRows, int64_t(const NormalizedRows& given));
// Returns the number of rows processed at once. If fewer are computed, this many require the fallback.
inline int64_t RowsPerVector() {
  return SimdWidth();
}

// Computes to = (x - mean) * factor.
NNEFC_SIMD_FUNCTION(ShiftAndScaleFloats, void(const float* x, int64_t terms, const FloatMoments& moments,
                                              float factor, float* to));

}  // namespace nnefc::runtime

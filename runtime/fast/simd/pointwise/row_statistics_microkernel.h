// Mean and variance of a row, and division of rows by their norms. Sums are computed in f32.
#pragma once

#include <optional>

#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime::fast::simd {

// The mean of a row is `mean + rest`: the nearest float and the rounding error. Subtracting the first part
// from a number near the mean is exact, so that subtracting both parts rounds only once. The variance is the
// mean of the squared distances.
struct FloatMoments {
  float mean, rest;
  double variance;
};

// Returns true if rows of `terms` elements are short enough for f32 sums and long enough for vectors. False
// on processors without vector kernels.
inline bool FitsFloatSums(int64_t terms) {
  constexpr int64_t kMinTerms = 16, kMaxTerms = 4096;
  return HasSimd() && terms >= kMinTerms && terms <= kMaxTerms;
}

// Computes the moments of a row in two passes: the mean of the distances from the first element, then the
// squared distances from the mean. Returns nothing if the sum of squares is NaN, overflows, or is so small
// that squares may have underflowed, as for equal elements. Requires FitsFloatSums.
NNEFC_SIMD_FUNCTION(ComputeFloatMoments, std::optional<FloatMoments>(const float* x, int64_t terms));

// The arguments of NormalizeRows: x / sqrt(s + eps) if `adds`, otherwise x / sqrt(max(s, eps)), for the sum
// of squares `s` of each row.
struct NormalizedRows {
  const float* x;
  int64_t stride;  // row stride of x
  float* out;      // consecutive rows
  int64_t rows, terms;
  float eps;
  bool adds;
};
// Normalizes rows in groups of RowsPerVector(); the last group may be smaller. Stops before the first group
// with a row whose sum of squares is NaN, overflows or may have underflowed. Returns the number of leading
// rows computed. If these are not all, the caller computes the next group in another way and may then
// continue. Requires FitsFloatSums(terms). `out` may be `x` if `stride` is `terms`.
NNEFC_SIMD_FUNCTION(NormalizeRows, int64_t(const NormalizedRows& given));
// Returns the number of rows that NormalizeRows processes at once.
inline int64_t RowsPerVector() {
  return SimdWidth();
}

// The arguments of CentreRows: (x - mean) / sqrt(variance + eps) if `inside`, otherwise
// (x - mean) / (sqrt(variance) + eps), for consecutive rows.
struct CentredRows {
  const float* x;
  float* out;
  int64_t rows, terms;
  float eps;
  bool inside;
};
// Subtracts the means of rows and divides by their deviations, in groups like NormalizeRows, with the same
// result. `out` may be `x`.
NNEFC_SIMD_FUNCTION(CentreRows, int64_t(const CentredRows& given));

// Computes to[i] = (x[i] - mean - rest) * factor for a row of any length; `to` may be `x`.
NNEFC_SIMD_FUNCTION(ShiftAndScaleFloats, void(const float* x, int64_t terms, const FloatMoments& moments,
                                              float factor, float* to));

}  // namespace nnefc::runtime::fast::simd

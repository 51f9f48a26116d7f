// SoftMax of rows.
#pragma once

#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime::fast::simd {

// Computes out[i] = e^(x[i] - m) / sum of e^(x[j] - m), with the maximum m, for each row of `terms`
// adjacent elements. A row with NaN, positive infinity, or only negative infinities becomes NaN. Powers below
// 2^-125 become 0. Sums are computed in f32 for up to 4096 terms and added up in f64. `out` may be `x`.
struct SoftmaxRows {
  const float* x;
  float* out;
  int64_t rows, terms;
};
NNEFC_SIMD_FUNCTION(ComputeSoftmaxRows, void(const SoftmaxRows& given));

}  // namespace nnefc::runtime::fast::simd

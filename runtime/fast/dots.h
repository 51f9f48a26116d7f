#pragma once

#include "runtime/fast/vector_math.h"

namespace nnefc::runtime {

// A matrix whose rows lie `stride` apart.
struct Matrix {
  const float* data;
  int64_t stride;

  const float* At(int64_t row) const { return data + row * stride; }
};

// An element of a matrix is aligned as a float is.
using Lanes = float __attribute__((vector_size(64), aligned(4), may_alias));

// sums[i] += sum over k of rows[i, k] * x[k], for `kRows` rows.
template <int64_t kRows>
[[gnu::always_inline]] inline void AddDots(const Matrix& rows, const float* x, int64_t columns, float* sums) {
  LaneSums partial[kRows] = {};
  int64_t k = 0;
  for (; k + kSumLanes <= columns; k += kSumLanes) {
    const LaneSums factor = *reinterpret_cast<const Lanes*>(x + k);
    for (int64_t i = 0; i < kRows; ++i)
      partial[i] += *reinterpret_cast<const Lanes*>(rows.data + i * rows.stride + k) * factor;
  }
  for (int64_t i = 0; i < kRows; ++i) {
    float rest = 0;
    for (int64_t j = k; j < columns; ++j) rest += rows.data[i * rows.stride + j] * x[j];
    for (int64_t width = kSumLanes / 2; width > 0; width /= 2) {
      for (int64_t lane = 0; lane < width; ++lane) partial[i][lane] += partial[i][lane + width];
    }
    sums[i] += partial[i][0] + rest;
  }
}

}  // namespace nnefc::runtime

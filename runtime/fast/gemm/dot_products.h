#pragma once

#include "runtime/fast/simd/loop_math.h"

namespace nnefc::runtime::fast::gemm {

// A matrix with a row stride.
struct Matrix {
  const float* data;
  int64_t stride;

  const float* At(int64_t row) const { return data + row * stride; }
};

// Eight unaligned floats. Fits AVX2 registers; memory-bound code gains nothing from wider ones.
using EightFloats = float __attribute__((vector_size(32), aligned(4), may_alias));

// sums[i] += sum over k of rows[i, k] * x[k], for `kRows` rows.
template <int64_t kRows>
[[gnu::always_inline]] inline void AddDotProducts(const Matrix& rows, const float* x, int64_t columns,
                                                  float* sums) {
  constexpr int64_t kWidth = 8, kParts = 2;  // independent partial sums per row
  using Sums = float __attribute__((vector_size(32)));
  Sums partial[kRows][kParts] = {};
  int64_t k = 0;
  for (; k + kParts * kWidth <= columns; k += kParts * kWidth) {
    for (int64_t part = 0; part < kParts; ++part) {
      const int64_t at = k + part * kWidth;
      const Sums factor = *reinterpret_cast<const EightFloats*>(x + at);
      for (int64_t i = 0; i < kRows; ++i)
        partial[i][part] += *reinterpret_cast<const EightFloats*>(rows.data + i * rows.stride + at) * factor;
    }
  }
  for (int64_t i = 0; i < kRows; ++i) {
    float rest = 0;
    for (int64_t j = k; j < columns; ++j) rest += rows.data[i * rows.stride + j] * x[j];
    Sums sum = partial[i][0] + partial[i][1];
    for (int64_t width = kWidth / 2; width > 0; width /= 2) {
      for (int64_t lane = 0; lane < width; ++lane) sum[lane] += sum[lane + width];
    }
    sums[i] += sum[0] + rest;
  }
}

}  // namespace nnefc::runtime::fast::gemm

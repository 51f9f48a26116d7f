// SoftMax of rows.

#include "runtime/fast/simd/pointwise/row_softmax_microkernel.h"

#include <algorithm>
#include <limits>

#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

constexpr float kLogBase2OfE = 1.44269504F;
constexpr float kLowest = -std::numeric_limits<float>::infinity();

// Vectors with independent maxima and sums.
constexpr int64_t kVectors = 4;
constexpr int64_t kTogether = kVectors * kSimdWidth;

// x = e^(x - largest); 0 for negative infinity, unless `largest` is that, too.
NNEFC_SIMD_INLINE inline void ExponentialOfDistance(FloatVector& x, float largest) {
  x = (x - largest) * kLogBase2OfE;
  SimdExp2FlushToZero(x);
}

// Computes a row that fits in kCount vectors, in registers.
template <int64_t kCount>
NNEFC_SIMD_INLINE inline void ComputeShortRow(const float* x, int64_t terms, float* out) {
  FloatVector values[kCount];
#pragma GCC unroll 4
  for (int64_t i = 0; i < kCount; ++i)
    LoadFirst(values[i], x + i * kSimdWidth, terms - i * kSimdWidth, kLowest);
  FloatVector largest = values[0];
#pragma GCC unroll 4
  for (int64_t i = 1; i < kCount; ++i) Max(largest, values[i]);
  const float maximum = ReduceMax(largest);
  FloatVector sums = {};
#pragma GCC unroll 4
  for (int64_t i = 0; i < kCount; ++i) {
    ExponentialOfDistance(values[i], maximum);
    sums += values[i];
  }
  const float factor = 1 / ReduceAdd(sums);
#pragma GCC unroll 4
  for (int64_t i = 0; i < kCount; ++i)
    StoreFirst(values[i] * factor, terms - i * kSimdWidth, out + i * kSimdWidth);
}

NNEFC_SIMD_INLINE inline float LargestOfRow(const float* x, int64_t terms) {
  FloatVector largest[kVectors];
#pragma GCC unroll 4
  for (int64_t j = 0; j < kVectors; ++j) largest[j] = FloatVector{} + kLowest;
  int64_t i = 0;
  for (; i + kTogether <= terms; i += kTogether) {
#pragma GCC unroll 4
    for (int64_t j = 0; j < kVectors; ++j) {
      const FloatVector vector = *reinterpret_cast<const UnalignedFloatVector*>(x + i + j * kSimdWidth);
      Max(largest[j], vector);
    }
  }
  for (; i < terms; i += kSimdWidth) {
    FloatVector last;
    LoadFirst(last, x + i, terms - i, kLowest);
    Max(largest[0], last);
  }
#pragma GCC unroll 4
  for (int64_t j = 1; j < kVectors; ++j) Max(largest[0], largest[j]);
  return ReduceMax(largest[0]);
}

// Stores the exponentials and returns their sum.
NNEFC_SIMD_INLINE inline float ComputeExponentials(const float* x, int64_t terms, float largest, float* out) {
  FloatVector sums[kVectors] = {};
  int64_t i = 0;
  for (; i + kTogether <= terms; i += kTogether) {
#pragma GCC unroll 4
    for (int64_t j = 0; j < kVectors; ++j) {
      FloatVector vector = *reinterpret_cast<const UnalignedFloatVector*>(x + i + j * kSimdWidth);
      ExponentialOfDistance(vector, largest);
      *reinterpret_cast<UnalignedFloatVector*>(out + i + j * kSimdWidth) = vector;
      sums[j] += vector;
    }
  }
  for (; i < terms; i += kSimdWidth) {
    FloatVector last;
    LoadFirst(last, x + i, terms - i, kLowest);
    ExponentialOfDistance(last, largest);
    StoreFirst(last, terms - i, out + i);
    sums[0] += last;
  }
#pragma GCC unroll 4
  for (int64_t j = 1; j < kVectors; ++j) sums[0] += sums[j];
  return ReduceAdd(sums[0]);
}

NNEFC_SIMD_INLINE inline void ComputeLongRow(const float* x, int64_t terms, float* out) {
  constexpr int64_t kTermsOfSum = 4096;
  const float largest = LargestOfRow(x, terms);
  double sum = 0;
  for (int64_t i = 0; i < terms; i += kTermsOfSum)
    sum +=
        static_cast<double>(ComputeExponentials(x + i, std::min(kTermsOfSum, terms - i), largest, out + i));
  const auto factor = static_cast<float>(1 / sum);
  int64_t i = 0;
  for (; i + kSimdWidth <= terms; i += kSimdWidth)
    *reinterpret_cast<UnalignedFloatVector*>(out + i) *= factor;
  for (; i < terms; ++i) out[i] *= factor;
}

}  // namespace

void ComputeSoftmaxRows(const SoftmaxRows& call) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const SoftmaxRows given = call;  // local copy, to exclude aliasing
    const float* x = given.x;
    float* out = given.out;
    for (int64_t row = 0; row < given.rows; ++row, x += given.terms, out += given.terms) {
      switch ((given.terms + kSimdWidth - 1) / kSimdWidth) {
        case 1:
          ComputeShortRow<1>(x, given.terms, out);
          break;
        case 2:
          ComputeShortRow<2>(x, given.terms, out);
          break;
        case 3:
          ComputeShortRow<3>(x, given.terms, out);
          break;
        case 4:
          ComputeShortRow<4>(x, given.terms, out);
          break;
        default:
          ComputeLongRow(x, given.terms, out);
      }
    }
  });
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

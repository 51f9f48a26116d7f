// Dot products of a row with unpacked matrix rows.

#include "runtime/fast/simd/gemm/gemv_microkernel.h"

#include <algorithm>

#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

// Rows read in parallel.
constexpr int64_t kStreams = std::min<int64_t>(kSimdWidth, 8);
static_assert(kSimdWidth % kStreams == 0);

// Adds kStreams rows starting at `first`.
NNEFC_SIMD_INLINE inline void AddStreams(const GemvBlock& call, int64_t first, FloatVector* sums) {
  // For short rows the next ones are prefetched; hardware prefetchers handle long ones.
  constexpr int64_t kShort = 1536;
  const int64_t inputs = call.inputs, whole = inputs / kSimdWidth * kSimdWidth;
  const int64_t ahead = inputs <= kShort ? kStreams * inputs : 0;
  const float* rows[kStreams];
  FloatVector own[kStreams] = {};
#pragma GCC unroll 8
  for (int64_t i = 0; i < kStreams; ++i) rows[i] = call.rows + std::min(first + i, call.last) * inputs;
  for (int64_t k = 0; k < whole; k += kSimdWidth) {
    const FloatVector x = *reinterpret_cast<const UnalignedFloatVector*>(call.x + k);
#pragma GCC unroll 8
    for (int64_t i = 0; i < kStreams; ++i) {
      __builtin_prefetch(rows[i] + k + ahead);
      own[i] += *reinterpret_cast<const UnalignedFloatVector*>(rows[i] + k) * x;
    }
  }
  FloatVector x = {};
  AddFirst(x, call.x + whole, inputs - whole);
#pragma GCC unroll 8
  for (int64_t i = 0; i < kStreams; ++i) {
    FloatVector rest = {};
    AddFirst(rest, rows[i] + whole, inputs - whole);
    sums[i] = own[i] + rest * x;
  }
}

}  // namespace

void RunGemvMicrokernel(const GemvBlock& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const GemvBlock call = given;  // local copy, to exclude aliasing
    for (int64_t begin = 0; begin < kBlockColumns; begin += kSimdWidth) {
      FloatVector sums[kSimdWidth] = {};
      for (int64_t i = 0; i < kSimdWidth; i += kStreams) AddStreams(call, call.first + begin + i, sums + i);
      ReduceAddEach(sums);
      *reinterpret_cast<UnalignedFloatVector*>(call.sums + begin) = sums[0];
    }
  });
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

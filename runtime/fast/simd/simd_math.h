// Vector types and math functions for files compiled per vector width (simd/dispatch.h). Relative errors are
// below 1e-6.
#pragma once

#include <bit>
#include <limits>

#include "compiler/support/x86.h"
#include "runtime/fast/simd/dispatch.h"
#include "runtime/fast/simd/limits.h"

#if defined(NNEFC_X86)
#include <immintrin.h>
#endif

#if NNEFC_SIMD_WIDTH == 16
#define NNEFC_SIMD_NAMESPACE simd512
#if defined(NNEFC_EMULATE_WIDE)
#define NNEFC_SIMD_TARGET "avx2,fma"
#else
#define NNEFC_SIMD_TARGET NNEFC_TARGET_AVX512
#endif
#elif NNEFC_SIMD_WIDTH == 8
#define NNEFC_SIMD_NAMESPACE simd256
#define NNEFC_SIMD_TARGET "avx2,fma"
#elif NNEFC_SIMD_WIDTH == 4
#define NNEFC_SIMD_NAMESPACE simd128
#else
#error "for files that are compiled with NNEFC_SIMD_WIDTH"
#endif

// The instruction set is that of the caller: functions and lambdas that call these are marked
// NNEFC_SIMD_INLINE and run by RunSimd.
#if defined(NNEFC_X86)
#define NNEFC_SIMD_INLINE __attribute__((always_inline, target(NNEFC_SIMD_TARGET)))
#if NNEFC_SIMD_WIDTH == 8
#define NNEFC_X86_AVX2 1
#elif !defined(NNEFC_EMULATE_WIDE)
#define NNEFC_X86_AVX512 1
#endif
#else
#define NNEFC_SIMD_INLINE __attribute__((always_inline))
#endif

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

constexpr int64_t kSimdWidth = NNEFC_SIMD_WIDTH;
static_assert(kSimdWidth == kInstructionSet.width);
constexpr int64_t kTileRows = kInstructionSet.tile_rows;
// A vector of floats, an unaligned vector, and integer indices.
using FloatVector = float __attribute__((vector_size(4 * NNEFC_SIMD_WIDTH)));
using UnalignedFloatVector = float __attribute__((vector_size(4 * NNEFC_SIMD_WIDTH), aligned(4), may_alias));
using IndexVector = int32_t __attribute__((vector_size(4 * NNEFC_SIMD_WIDTH)));

// The number of vectors per block of columns or channels, and of blocks per tile.
constexpr int64_t kVectorsPerBlock = kBlockColumns / kSimdWidth;
constexpr int64_t kBlocksPerTile = kInstructionSet.blocks_per_tile();
// Returns the offset of vector `part` within one or two blocks.
constexpr int64_t VectorOffset(int64_t part, int64_t block_stride) {
  return part / kVectorsPerBlock * block_stride + part % kVectorsPerBlock * kSimdWidth;
}

// Calls `loop()`, compiled for the instruction set of this file.
template <typename Loop>
void RunSimd(const Loop& loop) {
#if defined(NNEFC_X86_AVX512)
  RunInAvx512(loop);
#elif defined(NNEFC_X86)
  RunInAvx2(loop);
#else
  loop();
#endif
}

// Broadcasts a number.
NNEFC_SIMD_INLINE inline void Broadcast(const float* number, FloatVector& x) {
#if defined(NNEFC_X86_AVX2)
  x = _mm256_broadcast_ss(number);
#else
  x = *number - FloatVector{};  // x + 0 would be an addition
#endif
}

// Sets the elements to 0, 1, 2 ..
NNEFC_SIMD_INLINE inline void SetToIota(IndexVector& order) {
#pragma GCC unroll 16
  for (int i = 0; i < kSimdWidth; ++i) order[i] = i;
}

// Permutes: element i of `out` is the element of `x` at index order[i], modulo kSimdWidth.
NNEFC_SIMD_INLINE inline void Permute(const FloatVector& x, const IndexVector& order, FloatVector& out) {
#if !defined(__clang__)
  out = __builtin_shuffle(x, order);
#elif defined(NNEFC_X86_AVX512)
  out = _mm512_permutexvar_ps(reinterpret_cast<__m512i>(order), x);
#elif defined(NNEFC_X86_AVX2)
  out = _mm256_permutevar8x32_ps(x, reinterpret_cast<__m256i>(order));
#else
  const FloatVector from = x;
  for (int64_t i = 0; i < kSimdWidth; ++i) out[i] = from[order[i] & (kSimdWidth - 1)];
#endif
}
// Permutes two vectors: indices from kSimdWidth on refer to `y`, modulo 2 * kSimdWidth.
NNEFC_SIMD_INLINE inline void Permute(const FloatVector& x, const FloatVector& y, const IndexVector& order,
                                      FloatVector& out) {
#if !defined(__clang__)
  out = __builtin_shuffle(x, y, order);
#elif defined(NNEFC_X86_AVX512)
  out = _mm512_permutex2var_ps(x, reinterpret_cast<__m512i>(order), y);
#else
  FloatVector of_x, of_y;
  Permute(x, order, of_x);
  Permute(y, order, of_y);
  out = (order & static_cast<int32_t>(kSimdWidth)) != 0 ? of_y : of_x;
#endif
}

// Reciprocal estimate of y with a relative error below 2^-14.
NNEFC_SIMD_INLINE inline void ReciprocalEstimate(FloatVector& y) {
#if defined(NNEFC_X86_AVX512)
  y = _mm512_rcp14_ps(y);
#elif defined(NNEFC_X86_AVX2)
  const FloatVector guess = _mm256_rcp_ps(y);  // 2^-11.4
  y = guess + guess * (1.0f - y * guess);
#else
  y = 1.0f / y;
#endif
}

// y = 1 / y by estimate and one Newton step, in a third of the ten cycles of a division. y and its reciprocal
// must be normal numbers.
NNEFC_SIMD_INLINE inline void Reciprocal(FloatVector& y) {
  FloatVector guess = y;
  ReciprocalEstimate(guess);
  y = guess + guess * (1.0f - y * guess);
}

NNEFC_SIMD_INLINE inline void SquareRoot(FloatVector& x) {
#if defined(NNEFC_X86_AVX512)
  x = _mm512_sqrt_ps(x);
#elif defined(NNEFC_X86_AVX2)
  x = _mm256_sqrt_ps(x);
#else
  for (int64_t i = 0; i < kSimdWidth; ++i) x[i] = __builtin_sqrtf(x[i]);
#endif
}

// x = x < most ? x : most
NNEFC_SIMD_INLINE inline void Min(FloatVector& x, const FloatVector& most) {
#if defined(NNEFC_X86_AVX512)
  x = _mm512_min_ps(x, most);
#elif defined(NNEFC_X86_AVX2)
  x = _mm256_min_ps(x, most);
#else
  x = x < most ? x : most;
#endif
}

// x = x > least ? x : least
NNEFC_SIMD_INLINE inline void Max(FloatVector& x, const FloatVector& least) {
#if defined(NNEFC_X86_AVX512)
  x = _mm512_max_ps(x, least);
#elif defined(NNEFC_X86_AVX2)
  x = _mm256_max_ps(x, least);
#else
  x = x > least ? x : least;
#endif
}

// Calls store(function) with a function that applies the limits to x. An upper limit alone has a lower limit
// of -inf, so that kernels need no instance for it; it must not be NaN.
template <typename Store>
NNEFC_SIMD_INLINE inline void DispatchLimits(const Limits& limits, const Store& store) {
  const FloatVector most = FloatVector{} + limits.max;
  const FloatVector least =
      FloatVector{} + (limits.has_min ? limits.min : -std::numeric_limits<float>::infinity());
  if (!limits.has_max && !limits.has_min) {
    store([](FloatVector&) NNEFC_SIMD_INLINE {});
  } else if (!limits.has_max) {
    store([&](FloatVector& x) NNEFC_SIMD_INLINE { Max(x, least); });
  } else {
    store([&](FloatVector& x) NNEFC_SIMD_INLINE {
      Min(x, most);
      Max(x, least);
    });
  }
}

// x = x < low ? low : x > high ? high : x; NaN is preserved.
NNEFC_SIMD_INLINE inline void Clamp(FloatVector& x, float low, float high) {
  FloatVector limited = FloatVector{} + low;
  Max(limited, x);
  x = FloatVector{} + high;
  Min(x, limited);
}

// Prevents contraction to FMA, so that the product is rounded separately.
NNEFC_SIMD_INLINE inline void PreventContraction(FloatVector& product) {
#if defined(NNEFC_X86_AVX512) || defined(NNEFC_X86_AVX2)
  asm("" : "+v"(product));
#elif defined(NNEFC_X86)
  asm("" : "+m"(product));
#else
  (void)product;
#endif
}

// Rounds with ties to even.
NNEFC_SIMD_INLINE inline void RoundToEven(FloatVector& x) {
#if defined(NNEFC_X86_AVX512)
  x = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#elif defined(NNEFC_X86_AVX2)
  x = _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
  for (int64_t i = 0; i < kSimdWidth; ++i) x[i] = __builtin_nearbyintf(x[i]);
#endif
}

// Replaces elements from index `count` on by `other`. `count` may be negative or exceed the width.
NNEFC_SIMD_INLINE inline void Select(FloatVector& x, int64_t count, float other) {
#if defined(NNEFC_X86_AVX512)
  const uint32_t kept = count >= kSimdWidth ? 0xFFFFU : count <= 0 ? 0U : (1U << count) - 1;
  x = _mm512_mask_mov_ps(_mm512_set1_ps(other), static_cast<__mmask16>(kept), x);
#else
  IndexVector order;
  SetToIota(order);
  const auto end = static_cast<int32_t>(count < kSimdWidth ? count : kSimdWidth);
  x = order < end ? x : FloatVector{} + other;
#endif
}

// x[i] += from[i] for the first `count` elements, without reading others. `count` as in Select.
NNEFC_SIMD_INLINE inline void AddFirst(FloatVector& x, const float* from, int64_t count) {
#if defined(NNEFC_X86_AVX512)
  const uint32_t taken = count >= kSimdWidth ? 0xFFFFU : count <= 0 ? 0U : (1U << count) - 1;
  x += _mm512_maskz_loadu_ps(static_cast<__mmask16>(taken), from);
#elif defined(NNEFC_X86_AVX2)
  IndexVector order;
  SetToIota(order);
  const auto end = static_cast<int32_t>(count < kSimdWidth ? count : kSimdWidth);
  x += _mm256_maskload_ps(from, reinterpret_cast<__m256i>(order < end));
#else
  for (int64_t i = 0; i < count && i < kSimdWidth; ++i) x[i] += from[i];
#endif
}

// Loads the first `count` elements without reading others, which become `other`. `count` as in Select.
NNEFC_SIMD_INLINE inline void LoadFirst(FloatVector& x, const float* from, int64_t count, float other) {
#if defined(NNEFC_X86_AVX512)
  const uint32_t taken = count >= kSimdWidth ? 0xFFFFU : count <= 0 ? 0U : (1U << count) - 1;
  x = _mm512_mask_loadu_ps(_mm512_set1_ps(other), static_cast<__mmask16>(taken), from);
#elif defined(NNEFC_X86_AVX2)
  IndexVector order;
  SetToIota(order);
  const auto end = static_cast<int32_t>(count < kSimdWidth ? count : kSimdWidth);
  x = _mm256_maskload_ps(from, reinterpret_cast<__m256i>(order < end));
  x = order < end ? x : FloatVector{} + other;
#else
  x = FloatVector{} + other;
  for (int64_t i = 0; i < count && i < kSimdWidth; ++i) x[i] = from[i];
#endif
}

// Stores the first `count` elements without writing others. `count` as in Select.
NNEFC_SIMD_INLINE inline void StoreFirst(const FloatVector& x, int64_t count, float* to) {
#if defined(NNEFC_X86_AVX512)
  const uint32_t taken = count >= kSimdWidth ? 0xFFFFU : count <= 0 ? 0U : (1U << count) - 1;
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>(taken), x);
#elif defined(NNEFC_X86_AVX2)
  IndexVector order;
  SetToIota(order);
  const auto end = static_cast<int32_t>(count < kSimdWidth ? count : kSimdWidth);
  _mm256_maskstore_ps(to, reinterpret_cast<__m256i>(order < end), x);
#else
  for (int64_t i = 0; i < count && i < kSimdWidth; ++i) to[i] = x[i];
#endif
}

// Calls combine(x, y) with permutations y of x until each element of x has been combined with all others.
template <typename Combine>
NNEFC_SIMD_INLINE inline void ReduceVector(FloatVector& x, const Combine& combine) {
  IndexVector order;
  SetToIota(order);
#pragma GCC unroll 4
  for (int distance = kSimdWidth / 2; distance > 0; distance /= 2) {
    FloatVector other;
    Permute(x, order ^ distance, other);
    combine(x, other);
  }
}

// Transposes a kSimdWidth x kSimdWidth matrix in registers.
NNEFC_SIMD_INLINE inline void TransposeVectors(FloatVector (&rows)[kSimdWidth]) {
  // Swaps halves of row pairs at the given distance.
  const auto swap = [&](int64_t distance, const IndexVector& first, const IndexVector& second)
                        NNEFC_SIMD_INLINE {
#pragma GCC unroll 16
                          for (int64_t i = 0; i < kSimdWidth; ++i) {
                            if ((i & distance) != 0) continue;
                            const FloatVector a = rows[i], b = rows[i + distance];
                            Permute(a, b, first, rows[i]);
                            Permute(a, b, second, rows[i + distance]);
                          }
                        };
#if NNEFC_SIMD_WIDTH == 16
  swap(8, IndexVector{0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23},
       IndexVector{8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31});
  swap(4, IndexVector{0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27},
       IndexVector{4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31});
  swap(2, IndexVector{0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29},
       IndexVector{2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31});
  swap(1, IndexVector{0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30},
       IndexVector{1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31});
#elif NNEFC_SIMD_WIDTH == 8
  swap(4, IndexVector{0, 1, 2, 3, 8, 9, 10, 11}, IndexVector{4, 5, 6, 7, 12, 13, 14, 15});
  swap(2, IndexVector{0, 1, 8, 9, 4, 5, 12, 13}, IndexVector{2, 3, 10, 11, 6, 7, 14, 15});
  swap(1, IndexVector{0, 8, 2, 10, 4, 12, 6, 14}, IndexVector{1, 9, 3, 11, 5, 13, 7, 15});
#else
  swap(2, IndexVector{0, 1, 4, 5}, IndexVector{2, 3, 6, 7});
  swap(1, IndexVector{0, 4, 2, 6}, IndexVector{1, 5, 3, 7});
#endif
}

// Returns the largest element; there must be no NaN.
NNEFC_SIMD_INLINE inline float ReduceMax(const FloatVector& lanes) {
  FloatVector x = lanes;
  ReduceVector(x, [](FloatVector& a, const FloatVector& b) NNEFC_SIMD_INLINE { Max(a, b); });
  return x[0];
}

NNEFC_SIMD_INLINE inline float ReduceAdd(const FloatVector& lanes) {
  FloatVector x = lanes;
  ReduceVector(x, [](FloatVector& a, const FloatVector& b) NNEFC_SIMD_INLINE { a += b; });
  return x[0];
}

// Merges two vectors of sums[0, 2^(kShift + 1)) into one with partial sums over half as many elements, until
// one vector is left.
template <int kShift>
NNEFC_SIMD_INLINE inline void MergeSums(FloatVector* sums, const IndexVector& order) {
  constexpr int kHalf = kSimdWidth / 2;
  const IndexVector lane = order & (kHalf - 1), of_second = (order & kHalf) << 1;
  const IndexVector first = (((lane >> kShift) << (kShift + 1)) | (lane & ((1 << kShift) - 1))) + of_second;
#pragma GCC unroll 8
  for (int i = 0; i < 1 << kShift; ++i) {
    const FloatVector a = sums[2 * i], b = sums[2 * i + 1];
    FloatVector first_lanes, second_lanes;
    Permute(a, b, first, first_lanes);
    Permute(a, b, first + (1 << kShift), second_lanes);
    sums[i] = first_lanes + second_lanes;
  }
  if constexpr (kShift > 0) MergeSums<kShift - 1>(sums, order);
}

// sums[0][i] = the sum of the elements of sums[i], for kSimdWidth vectors.
NNEFC_SIMD_INLINE inline void ReduceAddEach(FloatVector* sums) {
  IndexVector order;
  SetToIota(order);
  MergeSums<std::countr_zero(static_cast<unsigned>(kSimdWidth / 2))>(sums, order);
}

// u = 2^u; results are clamped to the range of 2^-125 to 2^127; NaN is preserved.
NNEFC_SIMD_INLINE inline void SimdExp2(FloatVector& u) {
#if defined(NNEFC_X86_AVX512)
  constexpr int kToNearest = 0;
  const FloatVector f = _mm512_reduce_ps(u, kToNearest);  // 0 for infinities
#else
  Clamp(u, -125.0f, 127.0f);
  constexpr float kRound = 12582912.0f + 127;  // the last mantissa bit has the value 1; includes the exponent
                                               // bias
  const FloatVector rounded = u + kRound;
  const FloatVector f = u - (rounded - kRound);
#endif
  FloatVector series = 1.32647273e-3f * f + 9.67151299e-3f;
  series = series * f + 5.55073358e-2f;
  series = series * f + 2.40222424e-1f;
  series = series * f + 6.93147004e-1f;
  series = series * f + 1.0f;
#if defined(NNEFC_X86_AVX512)
  u = _mm512_scalef_ps(series, u - f);
#else
  constexpr int kExponentShift = 23;
  u = series * reinterpret_cast<FloatVector>(reinterpret_cast<IndexVector>(rounded) << kExponentShift);
#endif
}

// The same, but 0 below 2^-125.
NNEFC_SIMD_INLINE inline void SimdExp2FlushToZero(FloatVector& u) {
  constexpr float kMin = -125;
  FloatVector power = u;
  SimdExp2(power);
  u = u < kMin ? FloatVector{} : power;
}

// x = 1 / (1 + e^(-beta * x)); 0 if below 2^-125.
NNEFC_SIMD_INLINE inline void SimdSigmoid(FloatVector& x, float beta = 1) {
  constexpr float kMax = 0x1p125f;
  FloatVector power = x * (beta * -1.44269504f);
  SimdExp2(power);
  FloatVector inverse = 1.0f + power;
  Reciprocal(inverse);
  x = power > kMax ? FloatVector{} : inverse;
}

// x = x * sigmoid(beta * x); NaN for infinities with sigmoid 0.
NNEFC_SIMD_INLINE inline void SimdSwish(FloatVector& x, float beta) {
  FloatVector sigmoid = x;
  SimdSigmoid(sigmoid, beta);
  x *= sigmoid;
}

// x = x * min(max(x + 3, 0), 6) / 6
NNEFC_SIMD_INLINE inline void SimdHSwish(FloatVector& x) {
  FloatVector y = x + 3.0f;
  Clamp(y, 0.0f, 6.0f);
  x = x * (y * (1.0f / 6.0f));
}

// x = above / below with a relative error of 2^-28.
NNEFC_SIMD_INLINE inline void SimdDivide(const FloatVector& above, const FloatVector& below, FloatVector& x) {
  FloatVector inverse = below;
  ReciprocalEstimate(inverse);
  x = above * inverse;
  x += (above - x * below) * inverse;
}

// tanh(x); exactly 1 or -1 beyond the end of the approximation.
NNEFC_SIMD_INLINE inline void SimdTanh(FloatVector& x) {
  FloatVector y = x;
  Clamp(y, -kTanhEnd, kTanhEnd);
  FloatVector above, below;
  TanhQuotient(y, above, below);
  SimdDivide(above, below, y);
  x = x >= kTanhEnd ? FloatVector{} + 1.0f : x <= -kTanhEnd ? FloatVector{} - 1.0f : y;
}

// x = x * (1 + erf(x / sqrt(2))) / 2
NNEFC_SIMD_INLINE inline void SimdGelu(FloatVector& x) {
  FloatVector y = x * 0.707106781f;
  Clamp(y, -kErfEnd, kErfEnd);
  FloatVector above, below, erf;
  ErfQuotient(y, above, below);
  SimdDivide(above, below, erf);  // 1 and -1 at the ends
  x = 0.5f * x * (1.0f + erf);
}

// x = x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2
NNEFC_SIMD_INLINE inline void SimdGeluTanh(FloatVector& x) {
  FloatVector tanh = x * (0.797884561f + 0.0356774081f * x * x);
  SimdTanh(tanh);
  x = 0.5f * x * (1.0f + tanh);
}

// x = x > 0 ? x : alpha * (e^x - 1). Uses the series of e^x - 1 near 0 to avoid cancellation.
NNEFC_SIMD_INLINE inline void SimdElu(FloatVector& x, float alpha) {
  constexpr float kSeriesBegin = -0.35f;  // the first omitted term is below 2^-26 of the sum
  FloatVector power = x * 1.44269504f;
  SimdExp2(power);
  FloatVector series = x * (1.0f / 7) + 1.0f;
#pragma GCC unroll 5
  for (int i = 6; i > 1; --i) series = series * (x * (1.0f / static_cast<float>(i))) + 1.0f;
  const FloatVector below = x > kSeriesBegin ? x * series : power - 1.0f;
  x = x > 0.0f ? x : alpha * below;
}

// x = log(1 + e^x) = max(x, 0) + log(1 + e^-|x|). With t = e^-|x| and s = t / (t + 2) <= 1/3, the logarithm
// is 2 * (s + s^3 / 3 + s^5 / 5 ..), without loss of precision for small t.
NNEFC_SIMD_INLINE inline void SimdSoftPlus(FloatVector& x) {
  const FloatVector negative = x < 0.0f ? x : -x;
  FloatVector power = negative * 1.44269504f;
  SimdExp2FlushToZero(power);
  FloatVector s;
  SimdDivide(power, power + 2.0f, s);
  const FloatVector square = s * s;
  FloatVector series = square * (1.0f / 15) + 1.0f / 13;
#pragma GCC unroll 6
  for (int i = 11; i > 0; i -= 2) series = series * square + 1.0f / static_cast<float>(i);
  const FloatVector logarithm = 2.0f * s * series;
  x = x > 0.0f ? x + logarithm : logarithm;
}

// x = x * tanh(log(1 + e^x)), as a rational function of e^x; x beyond 20.
NNEFC_SIMD_INLINE inline void SimdMish(FloatVector& x) {
  constexpr float kEnd = 20;
  FloatVector power = x;
  Min(power, FloatVector{} + kEnd);
  power *= 1.44269504f;
  SimdExp2FlushToZero(power);
  const FloatVector above = power * (power + 2.0f);
  FloatVector gate;
  SimdDivide(above, above + 2.0f, gate);
  x = x > kEnd ? x : x * gate;
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

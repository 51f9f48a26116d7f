// Vector types and math functions for files compiled per vector width (lanes.h). Relative errors are below
// 1e-6.
#pragma once

#include "compiler/support/x86.h"
#include "runtime/fast/lanes/lanes.h"
#include "runtime/fast/lanes/limits.h"

#if defined(NNEFC_X86)
#include <immintrin.h>
#endif

#if NNEFC_LANES == 16
#define NNEFC_LANES_NAMESPACE wide_lanes
#if defined(NNEFC_EMULATE_WIDE)
#define NNEFC_LANES_TARGET "avx2,fma"
#else
#define NNEFC_LANES_TARGET NNEFC_TARGET_AVX512
#endif
#elif NNEFC_LANES == 8
#define NNEFC_LANES_NAMESPACE narrow_lanes
#define NNEFC_LANES_TARGET "avx2,fma"
#else
#error "for files that are compiled with NNEFC_LANES"
#endif

// The instruction set is that of the caller: functions and lambdas that call these are marked NNEFC_IN_LANES
// and run by RunInLanes.
#if defined(NNEFC_X86)
#define NNEFC_IN_LANES __attribute__((always_inline, target(NNEFC_LANES_TARGET)))
#if NNEFC_LANES == 8
#define NNEFC_NARROW_X86 1
#elif !defined(NNEFC_EMULATE_WIDE)
#define NNEFC_WIDE_X86 1
#endif
#else
#define NNEFC_IN_LANES __attribute__((always_inline))
#endif

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

constexpr int64_t kLanes = NNEFC_LANES;
constexpr int64_t kTileRows = kLanes == kWideLanes ? kWideTileRows : kNarrowTileRows;
// A vector of floats, an unaligned vector, and integer indices.
using LaneFloats = float __attribute__((vector_size(4 * NNEFC_LANES)));
using Lanes = float __attribute__((vector_size(4 * NNEFC_LANES), aligned(4), may_alias));
using LaneOrder = int32_t __attribute__((vector_size(4 * NNEFC_LANES)));

// The number of vectors per block of columns or channels, and of blocks per tile.
constexpr int64_t kLanesOfBlock = kBlockColumns / kLanes, kBlocksAtOnce = 2 / kLanesOfBlock;
// Returns the offset of vector `part` within one or two blocks.
constexpr int64_t OffsetOfPart(int64_t part, int64_t block_stride) {
  return part / kLanesOfBlock * block_stride + part % kLanesOfBlock * kLanes;
}

template <typename Loop>
void RunInLanes(const Loop& loop) {
#if defined(NNEFC_WIDE_X86)
  RunInAvx512(loop);
#elif defined(NNEFC_X86)
  RunInAvx2(loop);
#else
  loop();
#endif
}

// Broadcasts a number.
NNEFC_IN_LANES inline void SpreadNumber(const float* number, LaneFloats& x) {
#if defined(NNEFC_NARROW_X86)
  x = _mm256_broadcast_ss(number);
#else
  x = *number - LaneFloats{};  // x + 0 would be an addition
#endif
}

// Sets the elements to 0, 1, 2 ..
NNEFC_IN_LANES inline void CountLanes(LaneOrder& order) {
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) order[i] = i;
}

// Permutes: element i of `out` is the element of `x` at index order[i], modulo kLanes.
NNEFC_IN_LANES inline void ShuffleLanes(const LaneFloats& x, const LaneOrder& order, LaneFloats& out) {
#if !defined(__clang__)
  out = __builtin_shuffle(x, order);
#elif defined(NNEFC_WIDE_X86)
  out = _mm512_permutexvar_ps(reinterpret_cast<__m512i>(order), x);
#elif defined(NNEFC_NARROW_X86)
  out = _mm256_permutevar8x32_ps(x, reinterpret_cast<__m256i>(order));
#else
  const LaneFloats from = x;
  for (int64_t i = 0; i < kLanes; ++i) out[i] = from[order[i] & (kLanes - 1)];
#endif
}
// Permutes two vectors: indices from kLanes on refer to `y`, modulo 2 * kLanes.
NNEFC_IN_LANES inline void ShuffleLanes(const LaneFloats& x, const LaneFloats& y, const LaneOrder& order,
                                        LaneFloats& out) {
#if !defined(__clang__)
  out = __builtin_shuffle(x, y, order);
#elif defined(NNEFC_WIDE_X86)
  out = _mm512_permutex2var_ps(x, reinterpret_cast<__m512i>(order), y);
#else
  LaneFloats of_x, of_y;
  ShuffleLanes(x, order, of_x);
  ShuffleLanes(y, order, of_y);
  out = (order & static_cast<int32_t>(kLanes)) != 0 ? of_y : of_x;
#endif
}

// Reciprocal estimate of y with a relative error below 2^-14.
NNEFC_IN_LANES inline void GuessInverse(LaneFloats& y) {
#if defined(NNEFC_WIDE_X86)
  y = _mm512_rcp14_ps(y);
#elif defined(NNEFC_NARROW_X86)
  const LaneFloats guess = _mm256_rcp_ps(y);  // 2^-11.4
  y = guess + guess * (1.0f - y * guess);
#else
  y = 1.0f / y;
#endif
}

// y = 1 / y by estimate and one Newton step, in a third of the ten cycles of a division. y and its reciprocal
// must be normal numbers.
NNEFC_IN_LANES inline void InvertLanes(LaneFloats& y) {
  LaneFloats guess = y;
  GuessInverse(guess);
  y = guess + guess * (1.0f - y * guess);
}

NNEFC_IN_LANES inline void SquareRootLanes(LaneFloats& x) {
#if defined(NNEFC_WIDE_X86)
  x = _mm512_sqrt_ps(x);
#elif defined(NNEFC_NARROW_X86)
  x = _mm256_sqrt_ps(x);
#else
  for (int64_t i = 0; i < kLanes; ++i) x[i] = __builtin_sqrtf(x[i]);
#endif
}

// x = x < most ? x : most
NNEFC_IN_LANES inline void LimitFromAbove(LaneFloats& x, const LaneFloats& most) {
#if defined(NNEFC_WIDE_X86)
  x = _mm512_min_ps(x, most);
#elif defined(NNEFC_NARROW_X86)
  x = _mm256_min_ps(x, most);
#else
  x = x < most ? x : most;
#endif
}

// x = x > least ? x : least
NNEFC_IN_LANES inline void LimitFromBelow(LaneFloats& x, const LaneFloats& least) {
#if defined(NNEFC_WIDE_X86)
  x = _mm512_max_ps(x, least);
#elif defined(NNEFC_NARROW_X86)
  x = _mm256_max_ps(x, least);
#else
  x = x > least ? x : least;
#endif
}

// Calls store(function) with a function that applies the limits to x.
template <typename Store>
NNEFC_IN_LANES inline void WithLimits(const Limits& limits, const Store& store) {
  const LaneFloats most = LaneFloats{} + limits.most, least = LaneFloats{} + limits.least;
  if (!limits.has_most && !limits.has_least) {
    store([](LaneFloats&) NNEFC_IN_LANES {});
  } else if (!limits.has_most) {
    store([&](LaneFloats& x) NNEFC_IN_LANES { LimitFromBelow(x, least); });
  } else if (!limits.has_least) {
    store([&](LaneFloats& x) NNEFC_IN_LANES { LimitFromAbove(x, most); });
  } else {
    store([&](LaneFloats& x) NNEFC_IN_LANES {
      LimitFromAbove(x, most);
      LimitFromBelow(x, least);
    });
  }
}

// x = x < low ? low : x > high ? high : x; NaN is preserved.
NNEFC_IN_LANES inline void ClampLanes(LaneFloats& x, float low, float high) {
  LaneFloats limited = LaneFloats{} + low;
  LimitFromBelow(limited, x);
  x = LaneFloats{} + high;
  LimitFromAbove(x, limited);
}

// Prevents contraction to FMA, so that the product is rounded separately.
NNEFC_IN_LANES inline void RoundProduct(LaneFloats& product) {
#if defined(NNEFC_WIDE_X86) || defined(NNEFC_NARROW_X86)
  asm("" : "+v"(product));
#elif defined(NNEFC_X86)
  asm("" : "+m"(product));
#else
  (void)product;
#endif
}

// Rounds with ties to even.
NNEFC_IN_LANES inline void RoundLanes(LaneFloats& x) {
#if defined(NNEFC_WIDE_X86)
  x = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#elif defined(NNEFC_NARROW_X86)
  x = _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
  for (int64_t i = 0; i < kLanes; ++i) x[i] = __builtin_nearbyintf(x[i]);
#endif
}

// Replaces elements from index `count` on by `other`. `count` may be negative or exceed the width.
NNEFC_IN_LANES inline void KeepLanes(LaneFloats& x, int64_t count, float other) {
#if defined(NNEFC_WIDE_X86)
  const uint32_t kept = count >= kLanes ? 0xFFFFU : count <= 0 ? 0U : (1U << count) - 1;
  x = _mm512_mask_mov_ps(_mm512_set1_ps(other), static_cast<__mmask16>(kept), x);
#else
  LaneOrder order;
  CountLanes(order);
  const auto end = static_cast<int32_t>(count < kLanes ? count : kLanes);
  x = order < end ? x : LaneFloats{} + other;
#endif
}

// x[i] += from[i] for the first `count` elements, without reading others. `count` as in KeepLanes.
NNEFC_IN_LANES inline void AddLanes(LaneFloats& x, const float* from, int64_t count) {
#if defined(NNEFC_WIDE_X86)
  const uint32_t taken = count >= kLanes ? 0xFFFFU : count <= 0 ? 0U : (1U << count) - 1;
  x += _mm512_maskz_loadu_ps(static_cast<__mmask16>(taken), from);
#elif defined(NNEFC_NARROW_X86)
  LaneOrder order;
  CountLanes(order);
  const auto end = static_cast<int32_t>(count < kLanes ? count : kLanes);
  x += _mm256_maskload_ps(from, reinterpret_cast<__m256i>(order < end));
#else
  for (int64_t i = 0; i < count && i < kLanes; ++i) x[i] += from[i];
#endif
}

// Calls combine(x, y) with permutations y of x until each element of x has been combined with all others.
template <typename Combine>
NNEFC_IN_LANES inline void CombineLanes(LaneFloats& x, const Combine& combine) {
  LaneOrder order;
  CountLanes(order);
#pragma GCC unroll 4
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    LaneFloats other;
    ShuffleLanes(x, order ^ distance, other);
    combine(x, other);
  }
}

// Transposes a kLanes x kLanes matrix in registers.
NNEFC_IN_LANES inline void TransposeLanes(LaneFloats (&rows)[kLanes]) {
  // Swaps halves of row pairs at the given distance.
  const auto swap = [&](int64_t distance, const LaneOrder& first, const LaneOrder& second) NNEFC_IN_LANES {
#pragma GCC unroll 16
    for (int64_t i = 0; i < kLanes; ++i) {
      if ((i & distance) != 0) continue;
      const LaneFloats a = rows[i], b = rows[i + distance];
      ShuffleLanes(a, b, first, rows[i]);
      ShuffleLanes(a, b, second, rows[i + distance]);
    }
  };
#if NNEFC_LANES == 16
  swap(8, LaneOrder{0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23},
       LaneOrder{8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31});
  swap(4, LaneOrder{0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27},
       LaneOrder{4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31});
  swap(2, LaneOrder{0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29},
       LaneOrder{2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31});
  swap(1, LaneOrder{0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30},
       LaneOrder{1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31});
#else
  swap(4, LaneOrder{0, 1, 2, 3, 8, 9, 10, 11}, LaneOrder{4, 5, 6, 7, 12, 13, 14, 15});
  swap(2, LaneOrder{0, 1, 8, 9, 4, 5, 12, 13}, LaneOrder{2, 3, 10, 11, 6, 7, 14, 15});
  swap(1, LaneOrder{0, 8, 2, 10, 4, 12, 6, 14}, LaneOrder{1, 9, 3, 11, 5, 13, 7, 15});
#endif
}

// Returns the largest element; there must be no NaN.
NNEFC_IN_LANES inline float LargestLane(const LaneFloats& lanes) {
  LaneFloats x = lanes;
  CombineLanes(x, [](LaneFloats& a, const LaneFloats& b) NNEFC_IN_LANES { LimitFromBelow(a, b); });
  return x[0];
}

NNEFC_IN_LANES inline float SumOfLanes(const LaneFloats& lanes) {
  LaneFloats x = lanes;
  CombineLanes(x, [](LaneFloats& a, const LaneFloats& b) NNEFC_IN_LANES { a += b; });
  return x[0];
}

// sums[0][i] = the sum of the elements of sums[i], for kLanes vectors.
NNEFC_IN_LANES inline void SumsOfLanes(LaneFloats* sums) {
  constexpr int kHalf = kLanes / 2, kLastShift = kLanes == 16 ? 3 : 2;
  LaneOrder order;
  CountLanes(order);
  // Merges two vectors into one with partial sums over half as many elements.
#pragma GCC unroll 4
  for (int shift = kLastShift; shift >= 0; --shift) {
    const LaneOrder lane = order & (kHalf - 1), of_second = (order & kHalf) << 1;
    const LaneOrder first = (((lane >> shift) << (shift + 1)) | (lane & ((1 << shift) - 1))) + of_second;
#pragma GCC unroll 8
    for (int i = 0; i < 1 << shift; ++i) {
      const LaneFloats a = sums[2 * i], b = sums[2 * i + 1];
      LaneFloats first_lanes, second_lanes;
      ShuffleLanes(a, b, first, first_lanes);
      ShuffleLanes(a, b, first + (1 << shift), second_lanes);
      sums[i] = first_lanes + second_lanes;
    }
  }
}

// u = 2^u; results are clamped to the range of 2^-125 to 2^127; NaN is preserved.
NNEFC_IN_LANES inline void PowerOf2Lanes(LaneFloats& u) {
#if defined(NNEFC_WIDE_X86)
  constexpr int kToNearest = 0;
  const LaneFloats f = _mm512_reduce_ps(u, kToNearest);  // 0 for infinities
#else
  ClampLanes(u, -125.0f, 127.0f);
  constexpr float kRound = 12582912.0f + 127;  // the last mantissa bit has the value 1; includes the exponent
                                               // bias
  const LaneFloats rounded = u + kRound;
  const LaneFloats f = u - (rounded - kRound);
#endif
  LaneFloats series = 1.32647273e-3f * f + 9.67151299e-3f;
  series = series * f + 5.55073358e-2f;
  series = series * f + 2.40222424e-1f;
  series = series * f + 6.93147004e-1f;
  series = series * f + 1.0f;
#if defined(NNEFC_WIDE_X86)
  u = _mm512_scalef_ps(series, u - f);
#else
  constexpr int kExponentShift = 23;
  u = series * reinterpret_cast<LaneFloats>(reinterpret_cast<LaneOrder>(rounded) << kExponentShift);
#endif
}

// The same, but 0 below 2^-125.
NNEFC_IN_LANES inline void VanishingPowerOf2Lanes(LaneFloats& u) {
  constexpr float kLeast = -125;
  LaneFloats power = u;
  PowerOf2Lanes(power);
  u = u < kLeast ? LaneFloats{} : power;
}

// x = 1 / (1 + e^(-beta * x)); 0 if below 2^-125.
NNEFC_IN_LANES inline void SigmoidLanes(LaneFloats& x, float beta = 1) {
  constexpr float kMost = 0x1p125f;
  LaneFloats power = x * (beta * -1.44269504f);
  PowerOf2Lanes(power);
  LaneFloats inverse = 1.0f + power;
  InvertLanes(inverse);
  x = power > kMost ? LaneFloats{} : inverse;
}

// x = x * sigmoid(beta * x); NaN for infinities with sigmoid 0.
NNEFC_IN_LANES inline void SwishLanes(LaneFloats& x, float beta) {
  LaneFloats sigmoid = x;
  SigmoidLanes(sigmoid, beta);
  x *= sigmoid;
}

// x = x * min(max(x + 3, 0), 6) / 6
NNEFC_IN_LANES inline void HSwishLanes(LaneFloats& x) {
  LaneFloats y = x + 3.0f;
  ClampLanes(y, 0.0f, 6.0f);
  x = x * (y * (1.0f / 6.0f));
}

// x = above / below with a relative error of 2^-28.
NNEFC_IN_LANES inline void DivideLanes(const LaneFloats& above, const LaneFloats& below, LaneFloats& x) {
  LaneFloats inverse = below;
  GuessInverse(inverse);
  x = above * inverse;
  x += (above - x * below) * inverse;
}

// tanh(x); exactly 1 or -1 beyond the end of the approximation.
NNEFC_IN_LANES inline void TanhLanes(LaneFloats& x) {
  LaneFloats y = x;
  ClampLanes(y, -kTanhEnd, kTanhEnd);
  LaneFloats above, below;
  TanhQuotient(y, above, below);
  DivideLanes(above, below, y);
  x = x >= kTanhEnd ? LaneFloats{} + 1.0f : x <= -kTanhEnd ? LaneFloats{} - 1.0f : y;
}

// x = x * (1 + erf(x / sqrt(2))) / 2
NNEFC_IN_LANES inline void GeluLanes(LaneFloats& x) {
  LaneFloats y = x * 0.707106781f;
  ClampLanes(y, -kErfEnd, kErfEnd);
  LaneFloats above, below, erf;
  ErfQuotient(y, above, below);
  DivideLanes(above, below, erf);  // 1 and -1 at the ends
  x = 0.5f * x * (1.0f + erf);
}

// x = x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2
NNEFC_IN_LANES inline void GeluTanhLanes(LaneFloats& x) {
  LaneFloats tanh = x * (0.797884561f + 0.0356774081f * x * x);
  TanhLanes(tanh);
  x = 0.5f * x * (1.0f + tanh);
}

// x = x > 0 ? x : alpha * (e^x - 1). Uses the series of e^x - 1 near 0 to avoid cancellation.
NNEFC_IN_LANES inline void EluLanes(LaneFloats& x, float alpha) {
  constexpr float kSeriesBegin = -0.35f;  // the first omitted term is below 2^-26 of the sum
  LaneFloats power = x * 1.44269504f;
  PowerOf2Lanes(power);
  LaneFloats series = x * (1.0f / 7) + 1.0f;
#pragma GCC unroll 5
  for (int i = 6; i > 1; --i) series = series * (x * (1.0f / static_cast<float>(i))) + 1.0f;
  const LaneFloats below = x > kSeriesBegin ? x * series : power - 1.0f;
  x = x > 0.0f ? x : alpha * below;
}

// x = log(1 + e^x) = max(x, 0) + log(1 + e^-|x|). With t = e^-|x| and s = t / (t + 2) <= 1/3, the logarithm
// is 2 * (s + s^3 / 3 + s^5 / 5 ..), without loss of precision for small t.
NNEFC_IN_LANES inline void SoftPlusLanes(LaneFloats& x) {
  const LaneFloats negative = x < 0.0f ? x : -x;
  LaneFloats power = negative * 1.44269504f;
  VanishingPowerOf2Lanes(power);
  LaneFloats s;
  DivideLanes(power, power + 2.0f, s);
  const LaneFloats square = s * s;
  LaneFloats series = square * (1.0f / 15) + 1.0f / 13;
#pragma GCC unroll 6
  for (int i = 11; i > 0; i -= 2) series = series * square + 1.0f / static_cast<float>(i);
  const LaneFloats logarithm = 2.0f * s * series;
  x = x > 0.0f ? x + logarithm : logarithm;
}

// x = x * tanh(log(1 + e^x)), as a rational function of e^x; x beyond 20.
NNEFC_IN_LANES inline void MishLanes(LaneFloats& x) {
  constexpr float kEnd = 20;
  LaneFloats power = x;
  LimitFromAbove(power, LaneFloats{} + kEnd);
  power *= 1.44269504f;
  VanishingPowerOf2Lanes(power);
  const LaneFloats above = power * (power + 2.0f);
  LaneFloats gate;
  DivideLanes(above, above + 2.0f, gate);
  x = x > kEnd ? x : x * gate;
}

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE

// Functions of sixteen numbers, for loops that run on processors with AVX-512 alone. Their relative errors
// are below 1e-6.
#pragma once

#include "runtime/fast/limits.h"
#include "runtime/fast/vector_math.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace nnefc::runtime {

// Where they are called decides which registers they take: a function or lambda that calls them is
// NNEFC_IN_LANES, and runs by RunInLanes.
#if defined(__x86_64__)
#define NNEFC_IN_LANES __attribute__((always_inline, target(NNEFC_TARGET_AVX512)))
template <typename Loop>
void RunInLanes(const Loop& loop) {
  RunInAvx512(loop);
}
#else
#define NNEFC_IN_LANES __attribute__((always_inline))
template <typename Loop>
void RunInLanes(const Loop& loop) {
  loop();
}
#endif

// About 1 / y: the relative error is below 2^-14.
NNEFC_IN_LANES inline void GuessInverse(LaneSums& y) {
#if defined(__x86_64__)
  y = _mm512_rcp14_ps(y);
#else
  y = 1.0f / y;
#endif
}

// x = x * y ^ -1 would divide in ten cycles: this takes a third, where y is a normal number and its inverse,
// too.
NNEFC_IN_LANES inline void InvertLanes(LaneSums& y) {
  LaneSums guess = y;
  GuessInverse(guess);
  y = guess + guess * (1.0f - y * guess);
}

// x = x < most ? x : most
NNEFC_IN_LANES inline void LimitFromAbove(LaneSums& x, const LaneSums& most) {
#if defined(__x86_64__)
  x = _mm512_min_ps(x, most);
#else
  x = x < most ? x : most;
#endif
}

// x = x > least ? x : least
NNEFC_IN_LANES inline void LimitFromBelow(LaneSums& x, const LaneSums& least) {
#if defined(__x86_64__)
  x = _mm512_max_ps(x, least);
#else
  x = x > least ? x : least;
#endif
}

// Calls store(function), where function(x) limits x.
template <typename Store>
NNEFC_IN_LANES inline void WithLimits(const Limits& limits, const Store& store) {
  const LaneSums most = LaneSums{} + limits.most, least = LaneSums{} + limits.least;
  if (!limits.has_most && !limits.has_least) {
    store([](LaneSums&) NNEFC_IN_LANES {});
  } else if (!limits.has_most) {
    store([&](LaneSums& x) NNEFC_IN_LANES { LimitFromBelow(x, least); });
  } else if (!limits.has_least) {
    store([&](LaneSums& x) NNEFC_IN_LANES { LimitFromAbove(x, most); });
  } else {
    store([&](LaneSums& x) NNEFC_IN_LANES {
      LimitFromAbove(x, most);
      LimitFromBelow(x, least);
    });
  }
}

// x = x < low ? low : x > high ? high : x, so that NaN stays.
NNEFC_IN_LANES inline void ClampLanes(LaneSums& x, float low, float high) {
  LaneSums limited = LaneSums{} + low;
  LimitFromBelow(limited, x);
  x = LaneSums{} + high;
  LimitFromAbove(x, limited);
}

// to[i] = from[lanes.of[i]] where bit i of `lanes.taken` is set.
using LaneIndices = int32_t __attribute__((vector_size(64), aligned(4), may_alias));
struct PickedLanes {
  uint16_t taken;
  int32_t of __attribute__((vector_size(64)));
};
NNEFC_IN_LANES inline void PickLanes(LaneSums& to, const PickedLanes& lanes, const float* from) {
#if defined(__x86_64__)
  const auto of = reinterpret_cast<__m512i>(lanes.of);
  to = _mm512_mask_permutexvar_ps(to, lanes.taken, of, _mm512_loadu_ps(from));
#else
  for (int64_t i = 0; i < kSumLanes; ++i) {
    if ((lanes.taken >> i & 1) != 0) to[i] = from[lanes.of[i]];
  }
#endif
}

// Puts `other` in place of the lanes behind the first `count`.
NNEFC_IN_LANES inline void KeepLanes(LaneSums& x, int64_t count, float other) {
#if defined(__x86_64__)
  x = _mm512_mask_mov_ps(_mm512_set1_ps(other), static_cast<__mmask16>((1U << count) - 1), x);
#else
  for (int64_t i = count; i < kSumLanes; ++i) x[i] = other;
#endif
}

// x[i] += from[i] of the first `count` lanes; no others are read.
NNEFC_IN_LANES inline void AddLanes(LaneSums& x, const float* from, int64_t count) {
#if defined(__x86_64__)
  const auto taken = static_cast<__mmask16>((1U << count) - 1);
  x += _mm512_maskz_loadu_ps(taken, from);
#else
  for (int64_t i = 0; i < count; ++i) x[i] += from[i];
#endif
}

// Calls combine(x, y), where y are the lanes of x in another order, until each lane of x has to do with all.
template <typename Combine>
NNEFC_IN_LANES inline void CombineLanes(LaneSums& x, const Combine& combine) {
  using Order = int32_t __attribute__((vector_size(64)));
  const Order in_order = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#pragma GCC unroll 4
  for (int distance = kSumLanes / 2; distance > 0; distance /= 2) {
    const LaneSums other = __builtin_shuffle(x, in_order ^ distance);
    combine(x, other);
  }
}

// Of rows of 16 floats in 16 registers, columns.
NNEFC_IN_LANES inline void TransposeLanes(LaneSums (&rows)[kSumLanes]) {
  using Shuffle = int32_t __attribute__((vector_size(64)));
  // Halves of pairs of rows that are 8, 4, 2 and 1 apart change places.
  const auto swap = [&](int64_t distance, const Shuffle& first, const Shuffle& second) NNEFC_IN_LANES {
#pragma GCC unroll 16
    for (int64_t i = 0; i < kSumLanes; ++i) {
      if ((i & distance) != 0) continue;
      const LaneSums a = rows[i], b = rows[i + distance];
      rows[i] = __builtin_shuffle(a, b, first);
      rows[i + distance] = __builtin_shuffle(a, b, second);
    }
  };
  swap(8, Shuffle{0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23},
       Shuffle{8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31});
  swap(4, Shuffle{0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27},
       Shuffle{4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31});
  swap(2, Shuffle{0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29},
       Shuffle{2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31});
  swap(1, Shuffle{0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30},
       Shuffle{1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31});
}

// Of lanes that are no NaN.
NNEFC_IN_LANES inline float LargestLane(const LaneSums& lanes) {
  LaneSums x = lanes;
  CombineLanes(x, [](LaneSums& a, const LaneSums& b) NNEFC_IN_LANES { LimitFromBelow(a, b); });
  return x[0];
}

NNEFC_IN_LANES inline float SumOfLanes(const LaneSums& lanes) {
  LaneSums x = lanes;
  CombineLanes(x, [](LaneSums& a, const LaneSums& b) NNEFC_IN_LANES { a += b; });
  return x[0];
}

// sums[0][i] = the sum of the lanes of sums[i], for kSumLanes of them.
NNEFC_IN_LANES inline void SumsOfLanes(LaneSums* sums) {
  using Order = int32_t __attribute__((vector_size(64)));
  const Order in_order = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  // Two vectors become one, in which as many sums are of half as many lanes each.
#pragma GCC unroll 4
  for (int shift = 3; shift >= 0; --shift) {
    const Order lane = in_order & 7, of_second = (in_order & 8) << 1;
    const Order first = (((lane >> shift) << (shift + 1)) | (lane & ((1 << shift) - 1))) + of_second;
#pragma GCC unroll 8
    for (int i = 0; i < 1 << shift; ++i) {
      const LaneSums a = sums[2 * i], b = sums[2 * i + 1];
      sums[i] = __builtin_shuffle(a, b, first) + __builtin_shuffle(a, b, first + (1 << shift));
    }
  }
}

// u = 2^u, infinite and 0 where it leaves the range of numbers; NaN stays.
NNEFC_IN_LANES inline void PowerOf2Lanes(LaneSums& u) {
#if defined(__x86_64__)
  constexpr int kToNearest = 0;
  const LaneSums f = _mm512_reduce_ps(u, kToNearest);  // 0 of infinities
#else
  ClampLanes(u, -160.0f, 160.0f);
  constexpr float kRound = 12582912.0f;  // its last bit is worth 1
  const LaneSums f = u - (u + kRound - kRound);
#endif
  LaneSums series = 1.32647273e-3f * f + 9.67151299e-3f;
  series = series * f + 5.55073358e-2f;
  series = series * f + 2.40222424e-1f;
  series = series * f + 6.93147004e-1f;
  series = series * f + 1.0f;
#if defined(__x86_64__)
  u = _mm512_scalef_ps(series, u - f);
#else
  for (int64_t i = 0; i < kSumLanes; ++i) u[i] = __builtin_ldexpf(series[i], static_cast<int>(u[i] - f[i]));
#endif
}

// x = 1 / (1 + e^(-beta * x)); 0 where that is below 2^-125.
NNEFC_IN_LANES inline void SigmoidLanes(LaneSums& x, float beta = 1) {
  constexpr float kMost = 0x1p125f;
  LaneSums power = x * (beta * -1.44269504f);
  PowerOf2Lanes(power);
  LaneSums inverse = 1.0f + power;
  InvertLanes(inverse);
  x = power > kMost ? LaneSums{} : inverse;
}

// x = x * sigmoid(beta * x); NaN where x is an infinity of which the sigmoid is 0.
NNEFC_IN_LANES inline void SwishLanes(LaneSums& x, float beta) {
  LaneSums sigmoid = x;
  SigmoidLanes(sigmoid, beta);
  x *= sigmoid;
}

// x = x * min(max(x + 3, 0), 6) / 6
NNEFC_IN_LANES inline void HSwishLanes(LaneSums& x) {
  LaneSums y = x + 3.0f;
  ClampLanes(y, 0.0f, 6.0f);
  x = x * (y * (1.0f / 6.0f));
}

// x = x * (1 + erf(x / sqrt(2))) / 2
NNEFC_IN_LANES inline void GeluLanes(LaneSums& x) {
  LaneSums y = x * 0.707106781f;
  ClampLanes(y, -kErfEnd, kErfEnd);
  LaneSums above, below;
  ErfQuotient(y, above, below);
  LaneSums inverse = below;
  GuessInverse(inverse);
  LaneSums erf = above * inverse;
  erf += (above - erf * below) * inverse;  // what is left is of 2^-28; 1 and -1 where it ends
  x = 0.5f * x * (1.0f + erf);
}

}  // namespace nnefc::runtime

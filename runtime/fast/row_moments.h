// The mean and the variance of the numbers of a row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "runtime/fast/dnnl_layout.h"
#include "runtime/fast/dots.h"
#include "runtime/fast/lane_math.h"

namespace nnefc::runtime {

struct Moments {
  double mean, variance;
};

using Floats8 = float __attribute__((vector_size(32), aligned(4), may_alias));
using Doubles8 = double __attribute__((vector_size(64)));

// In one pass, of distances from the first element: its own is not larger than the root of the sum of the
// squares of all from the mean, so that the difference of the two sums loses nothing that f32 has. Distances
// from an infinity would make NaN of a mean that is infinite.
[[gnu::always_inline]] inline Moments MomentsOf(const float* x, int64_t terms) {
  constexpr int64_t kLanes = 8;
  const double first = std::isfinite(x[0]) ? static_cast<double>(x[0]) : 0;
  Doubles8 sums[2] = {}, squares[2] = {};
  int64_t i = 0;
  for (; i + 2 * kLanes <= terms; i += 2 * kLanes) {
    for (int64_t part = 0; part < 2; ++part) {
      const auto& taken = *reinterpret_cast<const Floats8*>(x + i + part * kLanes);
      const Doubles8 distances = __builtin_convertvector(taken, Doubles8) - first;
      sums[part] += distances;
      squares[part] += distances * distances;
    }
  }
  sums[0] += sums[1];
  squares[0] += squares[1];
  double sum = 0, square = 0;
  for (; i < terms; ++i) {
    const double distance = static_cast<double>(x[i]) - first;
    sum += distance;
    square += distance * distance;
  }
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    sum += sums[0][lane];
    square += squares[0][lane];
  }
  const double mean = sum / static_cast<double>(terms);
  const double variance = square / static_cast<double>(terms) - mean * mean;
  return {first + mean, variance < 0 ? 0 : variance};
}

// to = (x - mean) * factor
[[gnu::always_inline]] inline void ShiftAndScale(const float* x, int64_t terms, double mean, double factor,
                                                 float* to) {
  constexpr int64_t kLanes = 8;
  int64_t i = 0;
  for (; i + kLanes <= terms; i += kLanes) {
    const Doubles8 taken = __builtin_convertvector(*reinterpret_cast<const Floats8*>(x + i), Doubles8);
    *reinterpret_cast<Floats8*>(to + i) = __builtin_convertvector((taken - mean) * factor, Floats8);
  }
  for (; i < terms; ++i) to[i] = static_cast<float>((static_cast<double>(x[i]) - mean) * factor);
}

// A mean in two parts, since what is taken from a number that is near it is exact.
struct LaneMoments {
  float mean, rest;
  double variance;
};

// Rows of so many terms are so short that sums of f32 lose nothing that counts.
inline bool FitsLanes(int64_t terms) {
  constexpr int64_t kMostTerms = 4096;
  return HasLanes() && terms >= kSumLanes && terms <= kMostTerms;
}

// In f32, in two passes: of the distances from the first element, and of the squares of those from the mean.
// Nothing where the squares leave the range of f32. Of rows that fit (FitsLanes).
inline std::optional<LaneMoments> MomentsInLanes(const float* x, int64_t terms) {
  constexpr float kLeast = 1e-28F;
  const auto count = static_cast<double>(terms);
  LaneMoments found{};
  float squares = 0;
  RunInLanes([=, &found, &squares]() NNEFC_IN_LANES {
    const float first = x[0];
    const auto add = [=](const auto& map) NNEFC_IN_LANES {
      LaneSums sums[2] = {};
      int64_t i = 0;
      for (; i + 2 * kSumLanes <= terms; i += 2 * kSumLanes) {
        const LaneSums one = *reinterpret_cast<const Lanes*>(x + i);
        const LaneSums other = *reinterpret_cast<const Lanes*>(x + i + kSumLanes);
        map(one, sums[0]);
        map(other, sums[1]);
      }
      sums[0] += sums[1];
      for (; i < terms; i += kSumLanes) {
        const int64_t left = std::min(kSumLanes, terms - i);
        LaneSums last = {}, sum = {};
        AddLanes(last, x + i, left);
        map(last, sum);
        KeepLanes(sum, left, 0);
        sums[0] += sum;
      }
      return SumOfLanes(sums[0]);
    };
    const float sum = add([=](const LaneSums& taken, LaneSums& to) NNEFC_IN_LANES { to += taken - first; });
    const double mean = static_cast<double>(first) + static_cast<double>(sum) / count;
    const auto rounded = static_cast<float>(mean);
    squares = add([=](const LaneSums& taken, LaneSums& to) NNEFC_IN_LANES {
      const LaneSums distance = taken - rounded;
      to += distance * distance;
    });
    const double rest = mean - static_cast<double>(rounded);
    found = {.mean = rounded,
             .rest = static_cast<float>(rest),
             .variance = static_cast<double>(squares) / count - rest * rest};
  });
  if (!(squares > kLeast && squares < std::numeric_limits<float>::infinity())) return std::nullopt;
  return found;
}

// to = (x - mean) * factor
inline void ShiftAndScaleInLanes(const float* x, int64_t terms, const LaneMoments& moments, float factor,
                                 float* to) {
  RunInLanes([=, mean = moments.mean, rest = moments.rest]() NNEFC_IN_LANES {
    int64_t i = 0;
    for (; i + kSumLanes <= terms; i += kSumLanes) {
      *reinterpret_cast<Lanes*>(to + i) = (*reinterpret_cast<const Lanes*>(x + i) - mean - rest) * factor;
    }
    for (; i < terms; ++i) to[i] = (x[i] - mean - rest) * factor;
  });
}

}  // namespace nnefc::runtime

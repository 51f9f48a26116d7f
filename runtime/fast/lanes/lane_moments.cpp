#include "runtime/fast/lanes/lane_moments.h"

#include <algorithm>
#include <limits>

#include "runtime/fast/lanes/lane_math.h"

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

namespace {

// Computes partial sums of map(number) over a row in the lanes of `all`.
template <typename Map>
NNEFC_IN_LANES inline void AddMapped(const float* x, int64_t terms, const Map& map, LaneFloats& all) {
  constexpr int64_t kSums = 2 * kLanesOfBlock;  // independent partial sums
  LaneFloats sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums * kLanes <= terms; i += kSums * kLanes) {
#pragma GCC unroll 4
    for (int64_t j = 0; j < kSums; ++j) {
      const LaneFloats taken = *reinterpret_cast<const Lanes*>(x + i + j * kLanes);
      map(taken, sums[j]);
    }
  }
#pragma GCC unroll 4
  for (int64_t j = 1; j < kSums; ++j) sums[0] += sums[j];
  for (; i < terms; i += kLanes) {
    const int64_t left = std::min(kLanes, terms - i);
    LaneFloats last = {}, sum = {};
    AddLanes(last, x + i, left);
    map(last, sum);
    KeepLanes(sum, left, 0);
    sums[0] += sum;
  }
  all = sums[0];
}
template <typename Map>
NNEFC_IN_LANES inline float SumOfMapped(const float* x, int64_t terms, const Map& map) {
  LaneFloats sums;
  AddMapped(x, terms, map, sums);
  return SumOfLanes(sums);
}

NNEFC_IN_LANES inline void ScaleRow(const float* x, int64_t terms, float factor, float* to) {
  int64_t i = 0;
  for (; i + kLanes <= terms; i += kLanes)
    *reinterpret_cast<Lanes*>(to + i) = *reinterpret_cast<const Lanes*>(x + i) * factor;
  for (; i < terms; ++i) to[i] = x[i] * factor;
}

// Returns true if a sum of squares suffered no relevant underflow or overflow.
bool IsInRange(float squares) {
  constexpr float kLeast = 1e-28F;
  return squares > kLeast && squares < std::numeric_limits<float>::infinity();
}

// Returns true if the first `count` lanes are in range.
NNEFC_IN_LANES inline bool AreInRange(const LaneFloats& squares, int64_t count) {
  LaneFloats all = squares;
  KeepLanes(all, count, 1);
  return IsInRange(LargestLane(all)) && IsInRange(-LargestLane(-all)) && SumOfLanes(all - all) == 0;
}

// Normalizes up to kLanes rows; returns false without any effect if squares are out of range.
NNEFC_IN_LANES inline bool NormalizeSome(const NormalizedRows& given, const float* x, int64_t rows,
                                         float* out) {
  LaneFloats sums[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) {
    sums[i] = LaneFloats{};
    if (i >= rows) continue;
    AddMapped(
        x + i * given.stride, given.terms,
        [](const LaneFloats& taken, LaneFloats& to) NNEFC_IN_LANES { to += taken * taken; }, sums[i]);
  }
  SumsOfLanes(sums);
  if (!AreInRange(sums[0], rows)) return false;
  LaneFloats root = sums[0];
  if (given.adds) {
    root += given.eps;
  } else {
    LimitFromBelow(root, LaneFloats{} + given.eps);
  }
  SquareRootLanes(root);
  float factors[kLanes];
  *reinterpret_cast<Lanes*>(factors) = 1.0f / root;
  for (int64_t i = 0; i < rows; ++i)
    ScaleRow(x + i * given.stride, given.terms, factors[i], out + i * given.terms);
  return true;
}

}  // namespace

int64_t NormalizeInLanes(const NormalizedRows& call) {
  int64_t done = 0;
  RunInLanes([&]() NNEFC_IN_LANES {
    const NormalizedRows given = call;  // local copy, to exclude aliasing
    for (; done < given.rows; done += kLanes) {
      const int64_t rows = std::min(kLanes, given.rows - done);
      if (!NormalizeSome(given, given.x + done * given.stride, rows, given.out + done * given.terms)) return;
    }
  });
  return std::min(done, call.rows);
}

std::optional<LaneMoments> MomentsInLanes(const float* x, int64_t terms) {
  const auto count = static_cast<double>(terms);
  LaneMoments found{};
  float squares = 0;
  RunInLanes([=, &found, &squares]() NNEFC_IN_LANES {
    const float first = x[0];
    const float sum = SumOfMapped(
        x, terms, [=](const LaneFloats& taken, LaneFloats& to) NNEFC_IN_LANES { to += taken - first; });
    const double mean = static_cast<double>(first) + static_cast<double>(sum) / count;
    const auto rounded = static_cast<float>(mean);
    squares = SumOfMapped(x, terms, [=](const LaneFloats& taken, LaneFloats& to) NNEFC_IN_LANES {
      const LaneFloats distance = taken - rounded;
      to += distance * distance;
    });
    const double rest = mean - static_cast<double>(rounded);
    found = {.mean = rounded,
             .rest = static_cast<float>(rest),
             .variance = static_cast<double>(squares) / count - rest * rest};
  });
  if (!IsInRange(squares)) return std::nullopt;
  return found;
}

void ShiftAndScaleInLanes(const float* x, int64_t terms, const LaneMoments& moments, float factor,
                          float* to) {
  RunInLanes([=, mean = moments.mean, rest = moments.rest]() NNEFC_IN_LANES {
    int64_t i = 0;
    for (; i + kLanes <= terms; i += kLanes)
      *reinterpret_cast<Lanes*>(to + i) = (*reinterpret_cast<const Lanes*>(x + i) - mean - rest) * factor;
    for (; i < terms; ++i) to[i] = (x[i] - mean - rest) * factor;
  });
}

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE

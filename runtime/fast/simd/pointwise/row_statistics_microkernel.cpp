// Mean and variance of a row, and division of rows by their norms.

#include "runtime/fast/simd/pointwise/row_statistics_microkernel.h"

#include <algorithm>
#include <limits>

#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

// Computes partial sums of map(number) over a row in the lanes of `all`.
template <typename Map>
NNEFC_SIMD_INLINE inline void AddMapped(const float* x, int64_t terms, const Map& map, FloatVector& all) {
  constexpr int64_t kSums = 2 * kVectorsPerBlock;  // independent partial sums
  FloatVector sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums * kSimdWidth <= terms; i += kSums * kSimdWidth) {
#pragma GCC unroll 4
    for (int64_t j = 0; j < kSums; ++j) {
      const FloatVector taken = *reinterpret_cast<const UnalignedFloatVector*>(x + i + j * kSimdWidth);
      map(taken, sums[j]);
    }
  }
#pragma GCC unroll 4
  for (int64_t j = 1; j < kSums; ++j) sums[0] += sums[j];
  for (; i < terms; i += kSimdWidth) {
    const int64_t left = std::min(kSimdWidth, terms - i);
    FloatVector last = {}, sum = {};
    AddFirst(last, x + i, left);
    map(last, sum);
    Select(sum, left, 0);
    sums[0] += sum;
  }
  all = sums[0];
}
template <typename Map>
NNEFC_SIMD_INLINE inline float SumOfMapped(const float* x, int64_t terms, const Map& map) {
  FloatVector sums;
  AddMapped(x, terms, map, sums);
  return ReduceAdd(sums);
}

NNEFC_SIMD_INLINE inline void ScaleRow(const float* x, int64_t terms, float factor, float* to) {
  int64_t i = 0;
  for (; i + kSimdWidth <= terms; i += kSimdWidth)
    *reinterpret_cast<UnalignedFloatVector*>(to + i) =
        *reinterpret_cast<const UnalignedFloatVector*>(x + i) * factor;
  for (; i < terms; ++i) to[i] = x[i] * factor;
}

NNEFC_SIMD_INLINE inline void ShiftAndScaleRow(const float* x, int64_t terms, float mean, float rest,
                                               float factor, float* to) {
  int64_t i = 0;
  for (; i + kSimdWidth <= terms; i += kSimdWidth)
    *reinterpret_cast<UnalignedFloatVector*>(to + i) =
        (*reinterpret_cast<const UnalignedFloatVector*>(x + i) - mean - rest) * factor;
  for (; i < terms; ++i) to[i] = (x[i] - mean - rest) * factor;
}

// Returns true if a sum of squares suffered no relevant underflow or overflow.
bool IsInRange(float squares) {
  constexpr float kMin = 1e-28F;
  return squares > kMin && squares < std::numeric_limits<float>::infinity();
}

// Returns true if the first `count` lanes are in range.
NNEFC_SIMD_INLINE inline bool AreInRange(const FloatVector& squares, int64_t count) {
  FloatVector all = squares;
  Select(all, count, 1);
  return IsInRange(ReduceMax(all)) && IsInRange(-ReduceMax(-all)) && ReduceAdd(all * 0.0f) == 0;
}

// Normalizes up to kSimdWidth rows; returns false without any effect if squares are out of range.
NNEFC_SIMD_INLINE inline bool NormalizeSome(const NormalizedRows& given, const float* x, int64_t rows,
                                            float* out) {
  FloatVector sums[kSimdWidth];
  for (int64_t i = 0; i < kSimdWidth; ++i) {
    sums[i] = FloatVector{};
    if (i >= rows) continue;
    AddMapped(
        x + i * given.stride, given.terms,
        [](const FloatVector& taken, FloatVector& to) NNEFC_SIMD_INLINE { to += taken * taken; }, sums[i]);
  }
  ReduceAddEach(sums);
  if (!AreInRange(sums[0], rows)) return false;
  FloatVector root = sums[0];
  if (given.adds) {
    root += given.eps;
  } else {
    Max(root, FloatVector{} + given.eps);
  }
  SquareRoot(root);
  float factors[kSimdWidth];
  *reinterpret_cast<UnalignedFloatVector*>(factors) = 1.0f / root;
  for (int64_t i = 0; i < rows; ++i)
    ScaleRow(x + i * given.stride, given.terms, factors[i], out + i * given.terms);
  return true;
}

// The means of up to kSimdWidth rows, and what the rounding left out.
struct MeansOfRows {
  FloatVector means, rests;
};

NNEFC_SIMD_INLINE inline void FindMeans(const CentredRows& given, const float* x, int64_t rows,
                                        MeansOfRows& found) {
  FloatVector sums[kSimdWidth], firsts = {};
  for (int64_t i = 0; i < kSimdWidth; ++i) {
    sums[i] = FloatVector{};
    if (i >= rows) continue;
    const float first = x[i * given.terms];
    firsts[i] = first;
    AddMapped(
        x + i * given.terms, given.terms,
        [=](const FloatVector& taken, FloatVector& to) NNEFC_SIMD_INLINE { to += taken - first; }, sums[i]);
  }
  ReduceAddEach(sums);
  const FloatVector more = sums[0] / static_cast<float>(given.terms);
  // The sum of two floats and its rounding error.
  found.means = firsts + more;
  const FloatVector added = found.means - firsts;
  found.rests = (firsts - (found.means - added)) + (more - added);
}

// Normalizes up to kSimdWidth rows by their moments; returns false without any effect if squares are out of
// range.
NNEFC_SIMD_INLINE inline bool CentreSome(const CentredRows& given, const float* x, int64_t rows, float* out) {
  MeansOfRows found;
  FindMeans(given, x, rows, found);
  FloatVector sums[kSimdWidth];
  for (int64_t i = 0; i < kSimdWidth; ++i) {
    sums[i] = FloatVector{};
    if (i >= rows) continue;
    const float mean = found.means[i];
    AddMapped(
        x + i * given.terms, given.terms,
        [=](const FloatVector& taken, FloatVector& to) NNEFC_SIMD_INLINE {
          const FloatVector distance = taken - mean;
          to += distance * distance;
        },
        sums[i]);
  }
  ReduceAddEach(sums);
  if (!AreInRange(sums[0], rows)) return false;
  FloatVector variance = sums[0] / static_cast<float>(given.terms) - found.rests * found.rests;
  Max(variance, FloatVector{});
  if (given.inside) variance += given.eps;
  SquareRoot(variance);
  if (!given.inside) variance += given.eps;
  const FloatVector factors = 1.0f / variance;
  for (int64_t i = 0; i < rows; ++i)
    ShiftAndScaleRow(x + i * given.terms, given.terms, found.means[i], found.rests[i], factors[i],
                     out + i * given.terms);
  return true;
}

}  // namespace

int64_t CentreRows(const CentredRows& call) {
  int64_t done = 0;
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const CentredRows given = call;  // local copy, to exclude aliasing
    for (; done < given.rows; done += kSimdWidth) {
      const int64_t rows = std::min(kSimdWidth, given.rows - done), begin = done * given.terms;
      if (!CentreSome(given, given.x + begin, rows, given.out + begin)) return;
    }
  });
  return std::min(done, call.rows);
}

int64_t NormalizeRows(const NormalizedRows& call) {
  int64_t done = 0;
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const NormalizedRows given = call;  // local copy, to exclude aliasing
    for (; done < given.rows; done += kSimdWidth) {
      const int64_t rows = std::min(kSimdWidth, given.rows - done);
      if (!NormalizeSome(given, given.x + done * given.stride, rows, given.out + done * given.terms)) return;
    }
  });
  return std::min(done, call.rows);
}

std::optional<FloatMoments> ComputeFloatMoments(const float* x, int64_t terms) {
  const auto count = static_cast<double>(terms);
  FloatMoments found{};
  float squares = 0;
  RunSimd([=, &found, &squares]() NNEFC_SIMD_INLINE {
    const float first = x[0];
    const float sum = SumOfMapped(
        x, terms, [=](const FloatVector& taken, FloatVector& to) NNEFC_SIMD_INLINE { to += taken - first; });
    const double mean = static_cast<double>(first) + static_cast<double>(sum) / count;
    const auto rounded = static_cast<float>(mean);
    squares = SumOfMapped(x, terms, [=](const FloatVector& taken, FloatVector& to) NNEFC_SIMD_INLINE {
      const FloatVector distance = taken - rounded;
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

void ShiftAndScaleFloats(const float* x, int64_t terms, const FloatMoments& moments, float factor,
                         float* to) {
  RunSimd([=, mean = moments.mean, rest = moments.rest]()
              NNEFC_SIMD_INLINE { ShiftAndScaleRow(x, terms, mean, rest, factor, to); });
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

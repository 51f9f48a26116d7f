// Attention microkernels: packing of operands, and the softmax.

#include "runtime/fast/simd/gemm/attention_microkernel.h"

#include <algorithm>

#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

void PackKeys(const StridedRows& given, float* to) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const StridedRows keys = given;  // local copy, to exclude aliasing
    const int64_t end = (keys.rows + kTileColumns - 1) / kTileColumns * kTileColumns;
    for (int64_t first = 0; first < end; first += kSimdWidth) {
      float* tile = to + first / kTileColumns * keys.columns * kTileColumns + first % kTileColumns;
      for (int64_t column = 0; column < keys.columns; column += kSimdWidth) {
        const int64_t width = std::min(kSimdWidth, keys.columns - column);
        FloatVector rows[kSimdWidth];
        for (int64_t i = 0; i < kSimdWidth; ++i) {
          rows[i] = FloatVector{};
          if (first + i < keys.rows) AddFirst(rows[i], keys.At(first + i) + column, width);
        }
        TransposeVectors(rows);
        for (int64_t i = 0; i < width; ++i)
          *reinterpret_cast<UnalignedFloatVector*>(tile + (column + i) * kTileColumns) = rows[i];
      }
    }
  });
}

void PackValues(const StridedRows& given, float* to) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const StridedRows values = given;  // local copy, to exclude aliasing
    for (int64_t first = 0; first < values.columns; first += kTileColumns) {
      const int64_t width = std::min(kTileColumns, values.columns - first);
      float* tile = to + first * values.rows;
      for (int64_t key = 0; key < values.rows; ++key, tile += kTileColumns) {
        const float* from = values.At(key) + first;
        int64_t lane = 0;
        for (; lane + kSimdWidth <= width; lane += kSimdWidth)
          *reinterpret_cast<UnalignedFloatVector*>(tile + lane) =
              *reinterpret_cast<const UnalignedFloatVector*>(from + lane);
        for (; lane % kBlockColumns != 0 || lane < width; lane += kSimdWidth) {
          FloatVector part;
          LoadFirst(part, from + lane, std::max<int64_t>(0, width - lane), 0);
          *reinterpret_cast<UnalignedFloatVector*>(tile + lane) = part;
        }
      }
    }
  });
}

void PackQueries(const StridedRows& given, float scale, float* to) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const StridedRows queries = given;  // local copy, to exclude aliasing
    for (int64_t row = 0; row < queries.rows; ++row) {
      const float* from = queries.At(row);
      float* block = to + row * kBlockColumns;
      int64_t column = 0;
      for (; column + kBlockColumns <= queries.columns;
           column += kBlockColumns, block += queries.rows * kBlockColumns) {
        for (int64_t lane = 0; lane < kBlockColumns; lane += kSimdWidth)
          *reinterpret_cast<UnalignedFloatVector*>(block + lane) =
              *reinterpret_cast<const UnalignedFloatVector*>(from + column + lane) * scale;
      }
      for (int64_t i = 0; column + i < queries.columns; ++i) block[i] = from[column + i] * scale;
    }
  });
}

namespace {

// Calls each(register of scores, preceding keys) for full registers, and last(..) for a partial one.
template <typename Each, typename Last>
NNEFC_SIMD_INLINE inline void ForScores(const AttentionScores& given, int64_t row, const Each& each,
                                        const Last& last) {
  const auto at = [&](int64_t key) NNEFC_SIMD_INLINE -> UnalignedFloatVector& {
    return *reinterpret_cast<UnalignedFloatVector*>(given.scores.At(row, key / kBlockColumns) +
                                                    key % kBlockColumns);
  };
  int64_t key = 0;
  for (; key + kBlockColumns <= given.keys; key += kBlockColumns) {
    float* block = given.scores.At(row, key / kBlockColumns);
#pragma GCC unroll 2
    for (int64_t lane = 0; lane < kBlockColumns; lane += kSimdWidth)
      each(*reinterpret_cast<UnalignedFloatVector*>(block + lane), key + lane);
  }
  for (int64_t i = 1; i < kVectorsPerBlock && key + kSimdWidth <= given.keys; ++i, key += kSimdWidth)
    each(at(key), key);
  if (key < given.keys) last(at(key), key);
}

NNEFC_SIMD_INLINE inline float LargestScore(const AttentionScores& given, int64_t row) {
  FloatVector largest = FloatVector{} - __builtin_inff();
  const auto see = [&](FloatVector& x) NNEFC_SIMD_INLINE {
    Max(x, largest);
    largest = x;
  };
  const int64_t rest = given.keys % kSimdWidth;
  if (given.mask == nullptr) {
    ForScores(
        given, row,
        [&](const UnalignedFloatVector& scores, int64_t) NNEFC_SIMD_INLINE {
          FloatVector x = scores;
          see(x);
        },
        [&](const UnalignedFloatVector& scores, int64_t) NNEFC_SIMD_INLINE {
          FloatVector x = scores;
          Select(x, rest, -__builtin_inff());
          see(x);
        });
    return ReduceMax(largest);
  }
  const float* mask = given.mask + row * given.mask_stride;
  ForScores(
      given, row,
      [&](UnalignedFloatVector& scores, int64_t key) NNEFC_SIMD_INLINE {
        FloatVector x = scores + *reinterpret_cast<const UnalignedFloatVector*>(mask + key);
        scores = x;
        see(x);
      },
      [&](UnalignedFloatVector& scores, int64_t key) NNEFC_SIMD_INLINE {
        FloatVector x = scores;
        AddFirst(x, mask + key, rest);
        scores = x;
        Select(x, rest, -__builtin_inff());
        see(x);
      });
  return ReduceMax(largest);
}

// Replaces scores by exponentials and returns their sum.
NNEFC_SIMD_INLINE inline float ComputeExponentials(const AttentionScores& given, int64_t row, float most) {
  constexpr float kLog2E = 1.44269504f;
  FloatVector sums = {};
  const auto exponential = [&](FloatVector& x) NNEFC_SIMD_INLINE {
    x = (x - most) * kLog2E;
    SimdExp2FlushToZero(x);
  };
  ForScores(
      given, row,
      [&](UnalignedFloatVector& scores, int64_t) NNEFC_SIMD_INLINE {
        FloatVector x = scores;
        exponential(x);
        scores = x;
        sums += x;
      },
      [&](UnalignedFloatVector& scores, int64_t) NNEFC_SIMD_INLINE {
        FloatVector x = scores;
        exponential(x);
        scores = x;
        Select(x, given.keys % kSimdWidth, 0);
        sums += x;
      });
  return ReduceAdd(sums);
}

}  // namespace

void SoftmaxOfScores(const AttentionScores& call, float* sums) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const AttentionScores given = call;  // local copy, to exclude aliasing
    for (int64_t row = 0; row < given.rows; ++row)
      sums[row] = ComputeExponentials(given, row, LargestScore(given, row));
  });
}

void DivideRows(const BlockedMatrix<float>& given, int64_t rows, int64_t blocks, const float* numbers) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const BlockedMatrix<float> matrix = given;  // local copy, to exclude aliasing
    for (int64_t row = 0; row < rows; ++row) {
      const float factor = 1 / numbers[row];
      for (int64_t part = 0; part < blocks * kVectorsPerBlock; ++part)
        *reinterpret_cast<UnalignedFloatVector*>(matrix.At(row, 0) +
                                                 VectorOffset(part, matrix.block_stride)) *= factor;
    }
  });
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

#include "runtime/fast/lanes/attention_rows.h"

#include <algorithm>

#include "runtime/fast/lanes/lane_math.h"

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

void LayOutKeys(const RowsOfNumbers& given, float* to) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const RowsOfNumbers keys = given;  // which what is written cannot change
    const int64_t end = (keys.rows + kTileColumns - 1) / kTileColumns * kTileColumns;
    for (int64_t first = 0; first < end; first += kLanes) {
      float* tile = to + first / kTileColumns * keys.columns * kTileColumns + first % kTileColumns;
      for (int64_t column = 0; column < keys.columns; column += kLanes) {
        const int64_t width = std::min(kLanes, keys.columns - column);
        LaneFloats rows[kLanes];
        for (int64_t i = 0; i < kLanes; ++i) {
          rows[i] = LaneFloats{};
          if (first + i < keys.rows) AddLanes(rows[i], keys.At(first + i) + column, width);
        }
        TransposeLanes(rows);
        for (int64_t i = 0; i < width; ++i)
          *reinterpret_cast<Lanes*>(tile + (column + i) * kTileColumns) = rows[i];
      }
    }
  });
}

void LayOutValues(const RowsOfNumbers& given, float* to) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const RowsOfNumbers values = given;  // which what is written cannot change
    for (int64_t first = 0; first < values.columns; first += kTileColumns) {
      const int64_t width = std::min(kTileColumns, values.columns - first);
      float* tile = to + first * values.rows;
      for (int64_t key = 0; key < values.rows; ++key, tile += kTileColumns) {
        const float* from = values.At(key) + first;
        for (int64_t lane = 0; lane < width; lane += kLanes)
          *reinterpret_cast<Lanes*>(tile + lane) = *reinterpret_cast<const Lanes*>(from + lane);
      }
    }
  });
}

void LayOutQueries(const RowsOfNumbers& given, float scale, float* to) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const RowsOfNumbers queries = given;  // which what is written cannot change
    for (int64_t row = 0; row < queries.rows; ++row) {
      const float* from = queries.At(row);
      float* block = to + row * kBlockColumns;
      int64_t column = 0;
      for (; column + kBlockColumns <= queries.columns;
           column += kBlockColumns, block += queries.rows * kBlockColumns) {
        for (int64_t lane = 0; lane < kBlockColumns; lane += kLanes)
          *reinterpret_cast<Lanes*>(block + lane) =
              *reinterpret_cast<const Lanes*>(from + column + lane) * scale;
      }
      for (int64_t i = 0; column + i < queries.columns; ++i) block[i] = from[column + i] * scale;
    }
  });
}

namespace {

NNEFC_IN_LANES inline float SoftmaxInLanes(float* scores, int64_t stride, int64_t keys, const float* mask) {
  constexpr float kLog2E = 1.44269504f;
  LaneFloats largest = LaneFloats{} - __builtin_inff();
  for (int64_t key = 0; key < keys; key += kBlockColumns) {
    for (int64_t lane = 0; lane < kBlockColumns; lane += kLanes) {
      auto& block = *reinterpret_cast<Lanes*>(scores + key / kBlockColumns * stride + lane);
      const int64_t count = keys - key - lane;
      LaneFloats x = block;
      if (mask != nullptr) AddLanes(x, mask + key + lane, count);
      if (count < kLanes) KeepLanes(x, count, -__builtin_inff());
      block = x;
      LimitFromBelow(x, largest);
      largest = x;
    }
  }
  const float most = LargestLane(largest);
  LaneFloats sums = {};
  for (int64_t key = 0; key < keys; key += kBlockColumns) {
    for (int64_t lane = 0; lane < kBlockColumns; lane += kLanes) {
      auto& block = *reinterpret_cast<Lanes*>(scores + key / kBlockColumns * stride + lane);
      LaneFloats x = (block - most) * kLog2E;
      PowerOf2Lanes(x);
      const int64_t count = keys - key - lane;
      if (count < kLanes) KeepLanes(x, count, 0);
      block = x;
      sums += x;
    }
  }
  return SumOfLanes(sums);
}

}  // namespace

float SoftmaxOfScores(float* scores, int64_t stride, int64_t keys, const float* mask) {
  float sum = 0;
  RunInLanes([&]() NNEFC_IN_LANES { sum = SoftmaxInLanes(scores, stride, keys, mask); });
  return sum;
}

void DivideRows(const BlockedMatrix<float>& given, int64_t rows, int64_t blocks, const float* numbers) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const BlockedMatrix<float> matrix = given;  // which what is written cannot change
    for (int64_t row = 0; row < rows; ++row) {
      const float factor = 1 / numbers[row];
      for (int64_t part = 0; part < blocks * kLanesOfBlock; ++part)
        *reinterpret_cast<Lanes*>(matrix.At(row, 0) + OffsetOfPart(part, matrix.block_stride)) *= factor;
    }
  });
}

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE

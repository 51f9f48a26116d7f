#include "runtime/fast/lanes/attention_rows.h"

#include <algorithm>

#include "runtime/fast/lanes/lane_math.h"

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

void LayOutKeys(const RowsOfNumbers& given, float* to) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const RowsOfNumbers keys = given;  // local copy, to exclude aliasing
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
    const RowsOfNumbers values = given;  // local copy, to exclude aliasing
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
    const RowsOfNumbers queries = given;  // local copy, to exclude aliasing
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

// Calls each(register of scores, preceding keys) for full registers, and last(..) for a partial one.
template <typename Each, typename Last>
NNEFC_IN_LANES inline void ForScores(const AttentionScores& given, int64_t row, const Each& each,
                                     const Last& last) {
  const auto at = [&](int64_t key) NNEFC_IN_LANES -> Lanes& {
    return *reinterpret_cast<Lanes*>(given.scores.At(row, key / kBlockColumns) + key % kBlockColumns);
  };
  int64_t key = 0;
  for (; key + kBlockColumns <= given.keys; key += kBlockColumns) {
    float* block = given.scores.At(row, key / kBlockColumns);
#pragma GCC unroll 2
    for (int64_t lane = 0; lane < kBlockColumns; lane += kLanes)
      each(*reinterpret_cast<Lanes*>(block + lane), key + lane);
  }
  if (key + kLanes <= given.keys) {
    each(at(key), key);
    key += kLanes;
  }
  if (key < given.keys) last(at(key), key);
}

NNEFC_IN_LANES inline float LargestScore(const AttentionScores& given, int64_t row) {
  LaneFloats largest = LaneFloats{} - __builtin_inff();
  const auto see = [&](LaneFloats& x) NNEFC_IN_LANES {
    LimitFromBelow(x, largest);
    largest = x;
  };
  const int64_t rest = given.keys % kLanes;
  if (given.mask == nullptr) {
    ForScores(
        given, row,
        [&](const Lanes& scores, int64_t) NNEFC_IN_LANES {
          LaneFloats x = scores;
          see(x);
        },
        [&](const Lanes& scores, int64_t) NNEFC_IN_LANES {
          LaneFloats x = scores;
          KeepLanes(x, rest, -__builtin_inff());
          see(x);
        });
    return LargestLane(largest);
  }
  const float* mask = given.mask + row * given.mask_stride;
  ForScores(
      given, row,
      [&](Lanes& scores, int64_t key) NNEFC_IN_LANES {
        LaneFloats x = scores + *reinterpret_cast<const Lanes*>(mask + key);
        scores = x;
        see(x);
      },
      [&](Lanes& scores, int64_t key) NNEFC_IN_LANES {
        LaneFloats x = scores;
        AddLanes(x, mask + key, rest);
        scores = x;
        KeepLanes(x, rest, -__builtin_inff());
        see(x);
      });
  return LargestLane(largest);
}

// Replaces scores by exponentials and returns their sum.
NNEFC_IN_LANES inline float MakeExponentials(const AttentionScores& given, int64_t row, float most) {
  constexpr float kLog2E = 1.44269504f;
  LaneFloats sums = {};
  const auto exponential = [&](LaneFloats& x) NNEFC_IN_LANES {
    x = (x - most) * kLog2E;
    VanishingPowerOf2Lanes(x);
  };
  ForScores(
      given, row,
      [&](Lanes& scores, int64_t) NNEFC_IN_LANES {
        LaneFloats x = scores;
        exponential(x);
        scores = x;
        sums += x;
      },
      [&](Lanes& scores, int64_t) NNEFC_IN_LANES {
        LaneFloats x = scores;
        exponential(x);
        scores = x;
        KeepLanes(x, given.keys % kLanes, 0);
        sums += x;
      });
  return SumOfLanes(sums);
}

}  // namespace

void SoftmaxOfScores(const AttentionScores& call, float* sums) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const AttentionScores given = call;  // local copy, to exclude aliasing
    for (int64_t row = 0; row < given.rows; ++row)
      sums[row] = MakeExponentials(given, row, LargestScore(given, row));
  });
}

void DivideRows(const BlockedMatrix<float>& given, int64_t rows, int64_t blocks, const float* numbers) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const BlockedMatrix<float> matrix = given;  // local copy, to exclude aliasing
    for (int64_t row = 0; row < rows; ++row) {
      const float factor = 1 / numbers[row];
      for (int64_t part = 0; part < blocks * kLanesOfBlock; ++part)
        *reinterpret_cast<Lanes*>(matrix.At(row, 0) + OffsetOfPart(part, matrix.block_stride)) *= factor;
    }
  });
}

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE

#include "runtime/fast/product_tile.h"

#include <array>
#include <utility>

#include "runtime/fast/dots.h"
#include "runtime/fast/lane_math.h"

namespace nnefc::runtime {

namespace {

const Lanes& Load(const float* from) {
  return *reinterpret_cast<const Lanes*>(from);
}

template <int kRows, int kBlocks>
struct TileSums {
  LaneSums sums[kRows][kBlocks];

  [[gnu::always_inline]] void Start(const TileCall& call) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
      for (int b = 0; b < kBlocks; ++b) {
        sums[r][b] = call.bias != nullptr ? Load(call.bias + b * kBlockColumns) : LaneSums{};
        if (call.start != nullptr)
          sums[r][b] += Load(call.start + r * call.out.row_stride + b * call.out.block_stride);
      }
    }
  }

  template <WeightTerms kTerms>
  [[gnu::always_inline]] void AddTerm(const float* left, const float* weights, int64_t second) {
    LaneSums factors[kBlocks];
#pragma GCC unroll 2
    for (int b = 0; b < kBlocks; ++b) {
      factors[b] = Load(weights + b * kBlockColumns);
      if (kTerms == WeightTerms::kSum) factors[b] += Load(weights + second + b * kBlockColumns);
      if (kTerms == WeightTerms::kDifference) factors[b] -= Load(weights + second + b * kBlockColumns);
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const float x = left[r * kBlockColumns];
#pragma GCC unroll 2
      for (int b = 0; b < kBlocks; ++b) sums[r][b] += x * factors[b];
    }
  }

  NNEFC_IN_LANES void Store(const TileCall& call) const {
    WithLimits(call.limits, [&](const auto& limit) NNEFC_IN_LANES {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
        for (int b = 0; b < kBlocks; ++b) {
          LaneSums sum = sums[r][b];
          limit(sum);
          *reinterpret_cast<Lanes*>(call.out.At(r, b)) = sum;
        }
      }
    });
  }
};

template <int kRows, int kBlocks, WeightTerms kTerms>
NNEFC_IN_LANES inline void Tile(const TileCall& call) {
  TileSums<kRows, kBlocks> tile;
  tile.Start(call);
  const float* left = call.left;
  const float* weights = call.weights;
  const float* next = call.next;
  for (int64_t block = call.terms / kBlockColumns; block > 0; --block, left += call.left_stride) {
    for (int64_t line = 0; line < call.next_lines; ++line, next += kLineFloats) __builtin_prefetch(next);
    for (int64_t k = 0; k < kBlockColumns; ++k, weights += kTileColumns)
      tile.template AddTerm<kTerms>(left + k, weights, call.second);
  }
  for (int64_t k = 0; k < call.terms % kBlockColumns; ++k, weights += kTileColumns)
    tile.template AddTerm<kTerms>(left + k, weights, call.second);
  tile.Store(call);
}

using TileFunction = void (*)(const TileCall&);

template <int kRows, int kBlocks, WeightTerms kTerms>
void CallTile(const TileCall& call) {
  RunInLanes([&]() NNEFC_IN_LANES { Tile<kRows, kBlocks, kTerms>(call); });
}

template <int kBlocks, WeightTerms kTerms, size_t... kIndex>
constexpr std::array<TileFunction, kTileRows> TilesOf(std::index_sequence<kIndex...>) {
  return {CallTile<static_cast<int>(kIndex) + 1, kBlocks, kTerms>...};
}

// By terms, blocks and rows.
constexpr auto kTiles = [] {
  constexpr std::make_index_sequence<kTileRows> kAll;
  using Terms = WeightTerms;
  using ByRows = std::array<TileFunction, kTileRows>;
  return std::array<std::array<ByRows, 2>, 3>{{
      {TilesOf<1, Terms::kOne>(kAll), TilesOf<2, Terms::kOne>(kAll)},
      {TilesOf<1, Terms::kSum>(kAll), TilesOf<2, Terms::kSum>(kAll)},
      {TilesOf<1, Terms::kDifference>(kAll), TilesOf<2, Terms::kDifference>(kAll)},
  }};
}();

}  // namespace

void RunTile(int64_t rows, int64_t blocks, WeightTerms terms, const TileCall& call) {
  const auto at = [](int64_t index) { return static_cast<size_t>(index - 1); };
  kTiles[static_cast<size_t>(terms)][at(blocks)][at(rows)](call);
}

}  // namespace nnefc::runtime

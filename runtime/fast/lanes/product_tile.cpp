#include "runtime/fast/lanes/product_tile.h"

#include <array>
#include <utility>

#include "runtime/fast/lanes/near_rows.h"

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

namespace {

const Lanes& Load(const float* from) {
  return *reinterpret_cast<const Lanes*>(from);
}

template <int kRows>
using LeftRows = NearRows<kRows, static_cast<int>(kBlockColumns)>;

// Accumulators with columns in `kParts` registers, of one or two blocks.
template <int kRows, int kParts>
struct TileSums {
  LaneFloats sums[kRows][kParts];

  [[gnu::always_inline]] void Start(const TileCall& call) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
      for (int p = 0; p < kParts; ++p) {
        sums[r][p] = call.bias != nullptr ? Load(call.bias + p * kLanes) : LaneFloats{};
        if (call.start != nullptr)
          sums[r][p] += Load(call.start + r * call.out.row_stride + OffsetOfPart(p, call.out.block_stride));
      }
    }
  }

  NNEFC_IN_LANES void AddTerm(const LeftRows<kRows>& left, int64_t term, const float* weights) {
    LaneFloats factors[kParts];
#pragma GCC unroll 2
    for (int p = 0; p < kParts; ++p) factors[p] = Load(weights + p * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      LaneFloats x;
      SpreadNumber(left.At(r) + term, x);
#pragma GCC unroll 2
      for (int p = 0; p < kParts; ++p) AddProduct(sums[r][p], x, factors[p]);
    }
  }

  template <int64_t kAtOnce>
  NNEFC_IN_LANES void AddTerms(const float* left, int64_t count, const float*& weights) {
    LeftRows<kRows> rows(left);
    AddTermsOf<kAtOnce, kTileColumns>(rows, count, weights,
                                      [&](int64_t term, const float* factors)
                                          NNEFC_IN_LANES { AddTerm(rows, term, factors); });
  }

  NNEFC_IN_LANES void Store(const TileCall& call) const {
    const BlockedMatrix<float> out = call.out;  // local copy, to exclude aliasing
    WithLimits(call.limits, [&](const auto& limit) NNEFC_IN_LANES {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
        for (int p = 0; p < kParts; ++p) {
          LaneFloats sum = sums[r][p];
          limit(sum);
          float* const to = out.At(r, 0) + OffsetOfPart(p, out.block_stride);
          *reinterpret_cast<Lanes*>(to) = sum;
        }
      }
    });
  }
};

// Prefetch distance of rows in blocks of terms, for rows written by another core. Wide tiles finish a block
// sooner than a prefetch completes.
constexpr int64_t kBlocksBefore = kLanes == kNarrowLanes ? 1 : 2;
template <int kRows>
[[gnu::always_inline]] inline void FetchRows(const float* left) {
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) __builtin_prefetch(left + r * kBlockColumns);
}
// Narrow tiles prefetch into L2 only, because L1 is full of weights.
[[gnu::always_inline]] inline void FetchLater(const float* line) {
  constexpr int kFirstCache = 3, kSecondCache = 2;
  __builtin_prefetch(line, 0, kLanes == kNarrowLanes ? kSecondCache : kFirstCache);
}

template <int kRows, int kParts>
NNEFC_IN_LANES inline void Tile(const TileCall& call) {
  TileSums<kRows, kParts> tile;
  tile.Start(call);
  const float* left = call.left;
  const float* weights = call.weights;
  const float* next = call.next;
  for (int64_t block = call.terms / kBlockColumns; block > 0; --block, left += call.left_stride) {
    if (kLanes == kNarrowLanes || block > kBlocksBefore)
      FetchRows<kRows>(left + kBlocksBefore * call.left_stride);
    for (int64_t line = 0; line < call.next_lines; ++line, next += kLineFloats) FetchLater(next);
    tile.template AddTerms<kTermsTogether>(left, kBlockColumns, weights);
  }
  tile.template AddTerms<1>(left, call.terms % kBlockColumns, weights);
  tile.Store(call);
}

using ProductFunction = void (*)(const TileCall&);

template <int kRows, int kParts>
void CallTile(const TileCall& call) {
  RunInLanes([&]() NNEFC_IN_LANES { Tile<kRows, kParts>(call); });
}

// One instance per row count, for `kBlocks` blocks.
template <int kBlocks>
constexpr auto kTiles = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<ProductFunction, kTileRows>{
      CallTile<static_cast<int>(kIndex) + 1, kBlocks* static_cast<int>(kLanesOfBlock)>...};
}(std::make_index_sequence<kTileRows>());

void RunBlocks(ProductFunction run, bool has_second, const TileCall& call) {
  run(call);
  if (!has_second) return;
  // The second block separately, if registers hold the sums of a single block only; L1 has the rows.
  TileCall second = call;
  second.weights += kBlockColumns;
  if (second.bias != nullptr) second.bias += kBlockColumns;
  if (second.start != nullptr) second.start += call.out.block_stride;
  second.out.data += call.out.block_stride;
  second.next_lines = 0;
  run(second);
}

}  // namespace

// Loops over tiles outside of the RunInLanes function: inside, compilers would keep less of a tile in
// registers.
void RunTile(int64_t rows, int64_t blocks, const TileCall& given) {
  const auto row = static_cast<size_t>(rows - 1);
  const ProductFunction run = blocks == kBlocksAtOnce ? kTiles<kBlocksAtOnce>[row] : kTiles<1>[row];
  const bool has_second = blocks > kBlocksAtOnce;
  RunBlocks(run, has_second, given);
  if (given.tiles == 1) return;
  TileCall call = given;
  for (int64_t tile = 1; tile < given.tiles; ++tile) {
    call.left += rows * kBlockColumns;
    if (call.start != nullptr) call.start += rows * call.out.row_stride;
    call.out.data += rows * call.out.row_stride;
    call.next += call.terms / kBlockColumns * call.next_lines * kLineFloats;
    RunBlocks(run, has_second, call);
  }
}

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE

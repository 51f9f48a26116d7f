// GEMM microkernel with accumulators in registers.

#include "runtime/fast/simd/gemm/gemm_microkernel.h"

#include <array>
#include <utility>

#include "runtime/fast/simd/row_addresses.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

const UnalignedFloatVector& Load(const float* from) {
  return *reinterpret_cast<const UnalignedFloatVector*>(from);
}

template <int kRows>
using LeftRows = RowAddresses<kRows, static_cast<int>(kBlockColumns)>;

// Accumulators with columns in `kParts` registers, of one or two blocks.
template <int kRows, int kParts>
struct TileSums {
  FloatVector sums[kRows][kParts];

  [[gnu::always_inline]] void Start(const GemmTile& call) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
      for (int p = 0; p < kParts; ++p) {
        sums[r][p] = call.bias != nullptr ? Load(call.bias + p * kSimdWidth) : FloatVector{};
        if (call.start != nullptr)
          sums[r][p] += Load(call.start + r * call.out.row_stride + VectorOffset(p, call.out.block_stride));
      }
    }
  }

  NNEFC_SIMD_INLINE void AddTerm(const LeftRows<kRows>& left, int64_t term, const float* weights) {
    FloatVector factors[kParts];
#pragma GCC unroll 2
    for (int p = 0; p < kParts; ++p) factors[p] = Load(weights + p * kSimdWidth);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      FloatVector x;
      Broadcast(left.At(r) + term, x);
#pragma GCC unroll 2
      for (int p = 0; p < kParts; ++p) MultiplyAdd(sums[r][p], x, factors[p]);
    }
  }

  template <int64_t kAtOnce>
  NNEFC_SIMD_INLINE void AddTerms(const float* left, int64_t count, const float*& weights) {
    LeftRows<kRows> rows(left);
    AccumulateTerms<kAtOnce, kTileColumns>(rows, count, weights,
                                           [&](int64_t term, const float* factors)
                                               NNEFC_SIMD_INLINE { AddTerm(rows, term, factors); });
  }

  NNEFC_SIMD_INLINE void Store(const GemmTile& call) const {
    const BlockedMatrix<float> out = call.out;  // local copy, to exclude aliasing
    DispatchLimits(call.limits, [&](const auto& limit) NNEFC_SIMD_INLINE {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
        for (int p = 0; p < kParts; ++p) {
          FloatVector sum = sums[r][p];
          limit(sum);
          float* const to = out.At(r, 0) + VectorOffset(p, out.block_stride);
          *reinterpret_cast<UnalignedFloatVector*>(to) = sum;
        }
      }
    });
  }
};

// Prefetch distance of rows in blocks of terms, for rows written by another core. Wide tiles finish a block
// sooner than a prefetch completes.
constexpr int64_t kBlocksBefore = kSimdWidth == kSimdWidth256 ? 1 : 2;
template <int kRows>
[[gnu::always_inline]] inline void FetchRows(const float* left) {
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) __builtin_prefetch(left + r * kBlockColumns);
}
// Narrow tiles prefetch into L2 only, because L1 is full of weights.
[[gnu::always_inline]] inline void PrefetchNext(const float* line) {
  constexpr int kFirstCache = 3, kSecondCache = 2;
  __builtin_prefetch(line, 0, kSimdWidth == kSimdWidth256 ? kSecondCache : kFirstCache);
}

template <int kRows, int kParts>
NNEFC_SIMD_INLINE inline void Tile(const GemmTile& call) {
  TileSums<kRows, kParts> tile;
  tile.Start(call);
  const float* left = call.left;
  const float* weights = call.weights;
  const float* next = call.next;
  for (int64_t block = call.terms / kBlockColumns; block > 0; --block, left += call.left_stride) {
    if (kSimdWidth == kSimdWidth256 || block > kBlocksBefore)
      FetchRows<kRows>(left + kBlocksBefore * call.left_stride);
    for (int64_t line = 0; line < call.next_lines; ++line, next += kLineFloats) PrefetchNext(next);
    tile.template AddTerms<kTermUnroll>(left, kBlockColumns, weights);
  }
  tile.template AddTerms<1>(left, call.terms % kBlockColumns, weights);
  tile.Store(call);
}

using ProductFunction = void (*)(const GemmTile&);

template <int kRows, int kParts>
void CallTile(const GemmTile& call) {
  RunSimd([&]() NNEFC_SIMD_INLINE { Tile<kRows, kParts>(call); });
}

// One instance per row count, for `kBlocks` blocks.
template <int kBlocks>
constexpr auto kTiles = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<ProductFunction, kTileRows>{
      CallTile<static_cast<int>(kIndex) + 1, kBlocks* static_cast<int>(kVectorsPerBlock)>...};
}(std::make_index_sequence<kTileRows>());

void RunBlocks(ProductFunction run, bool has_second, const GemmTile& call) {
  run(call);
  if (!has_second) return;
  // The second block separately, if registers hold the sums of a single block only; L1 has the rows.
  GemmTile second = call;
  second.weights += kBlockColumns;
  if (second.bias != nullptr) second.bias += kBlockColumns;
  if (second.start != nullptr) second.start += call.out.block_stride;
  second.out.data += call.out.block_stride;
  second.next_lines = 0;
  run(second);
}

}  // namespace

// Loops over tiles outside of the RunSimd function: inside, compilers would keep less of a tile in
// registers.
void RunTile(int64_t rows, int64_t blocks, const GemmTile& given) {
  const auto row = static_cast<size_t>(rows - 1);
  const ProductFunction run = blocks == kBlocksPerTile ? kTiles<kBlocksPerTile>[row] : kTiles<1>[row];
  const bool has_second = blocks > kBlocksPerTile;
  RunBlocks(run, has_second, given);
  if (given.tiles == 1) return;
  GemmTile call = given;
  for (int64_t tile = 1; tile < given.tiles; ++tile) {
    call.left += rows * kBlockColumns;
    if (call.start != nullptr) call.start += rows * call.out.row_stride;
    call.out.data += rows * call.out.row_stride;
    call.next += call.terms / kBlockColumns * call.next_lines * kLineFloats;
    RunBlocks(run, has_second, call);
  }
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

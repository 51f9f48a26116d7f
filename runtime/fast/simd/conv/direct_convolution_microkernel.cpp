// Direct convolution microkernel with accumulators in registers.

#include "runtime/fast/simd/conv/direct_convolution_microkernel.h"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/fast/simd/row_addresses.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

const UnalignedFloatVector& LoadDirect(const float* from) {
  return *reinterpret_cast<const UnalignedFloatVector*>(from);
}

// The input pixels of a tile at a tap, in one or two rows of the image.
template <int kRows, int kPixels, int kStep>
using InputRows = RowAddresses<kPixels, kStep, kRows>;

// Accumulators with channels in `kParts` registers, of one or two blocks. `kStep`: the distance between the
// inputs of adjacent pixels; 0 if only known at run time.
template <int kRows, int kPixels, int kParts, int kStep>
struct DirectSums {
  FloatVector sums[kRows * kPixels][kParts];

  NNEFC_SIMD_INLINE void Start(const DirectArguments& call) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows * kPixels; ++i) {
#pragma GCC unroll 2
      for (int p = 0; p < kParts; ++p) {
        const int64_t offset = i * kBlockColumns + VectorOffset(p, call.out_block);
        __builtin_prefetch(call.out + offset, 1);
        sums[i][p] = call.bias != nullptr ? LoadDirect(call.bias + p * kSimdWidth) : FloatVector{};
        if (call.start != nullptr) sums[i][p] += LoadDirect(call.start + offset);
      }
    }
  }

  // Adds a channel at a tap to the pixels selected by `seeing`.
  template <bool kAll>
  NNEFC_SIMD_INLINE void AddTerm(const InputRows<kRows, kPixels, kStep>& in, int64_t term,
                                 const float* weights, unsigned seeing) {
    FloatVector factors[kParts];
#pragma GCC unroll 2
    for (int part = 0; part < kParts; ++part) factors[part] = LoadDirect(weights + part * kSimdWidth);
#pragma GCC unroll 16
    for (int i = 0; i < kRows * kPixels; ++i) {
      if (!kAll && (seeing >> i & 1) == 0) continue;
      FloatVector x;
      Broadcast(in.At(i) + term, x);
#pragma GCC unroll 2
      for (int part = 0; part < kParts; ++part) MultiplyAdd(sums[i][part], x, factors[part]);
    }
  }

  // Adds `count` consecutive channels.
  template <bool kAll>
  NNEFC_SIMD_INLINE void AddTerms(InputRows<kRows, kPixels, kStep> in, int64_t count, const float*& weights,
                                  unsigned seeing) {
    AccumulateTerms<kAll ? kTermUnroll : 1, kTileColumns>(
        in, count, weights, [&](int64_t term, const float* factors) NNEFC_SIMD_INLINE {
          AddTerm<kAll>(in, term, factors, seeing);
        });
  }

  NNEFC_SIMD_INLINE void Store(const DirectArguments& call) const {
    float* const out = call.out;  // local copy, to exclude aliasing
    const int64_t out_block = call.out_block;
    DispatchLimits(call.limits, [&](const auto& limit) NNEFC_SIMD_INLINE {
#pragma GCC unroll 16
      for (int i = 0; i < kRows * kPixels; ++i) {
#pragma GCC unroll 2
        for (int p = 0; p < kParts; ++p) {
          FloatVector sum = sums[i][p];
          limit(sum);
          *reinterpret_cast<UnalignedFloatVector*>(out + i * kBlockColumns + VectorOffset(p, out_block)) =
              sum;
        }
      }
    });
  }
};

// Returns the mask of all pixels of a tile with an input inside the image at a tap.
template <int kRows, int kPixels>
unsigned PixelsInsideImage(const DirectArguments& call, int64_t row, int64_t column) {
  const unsigned pixels = call.seeing[column];
  if (kRows == 1) return pixels;
  return (call.seeing_rows[0].Has(row) ? pixels : 0) | (call.seeing_rows[1].Has(row) ? pixels << kPixels : 0);
}

// Calls work(in, weights, row) for the first tap of each tap row, in all slices.
template <typename Work>
NNEFC_SIMD_INLINE inline void ForTapRows(const DirectArguments& call, const Work& work) {
  const float *in = call.in, *weights = call.weights;
  for (int64_t slice = 0; slice < call.slices; ++slice) {
    for (int64_t row = 0; row < call.rows; ++row)
      work(in + row * call.in_row, weights + row * call.weights_row, row);
    in += call.in_slice;
    weights += call.weights_slice;
  }
}

template <int kRows, int kPixels, int kBlocks, int kStep>
NNEFC_SIMD_INLINE inline void TileOfBlocks(const DirectArguments& call) {
  constexpr unsigned kAll = (1U << (kRows * kPixels)) - 1;
  DirectSums<kRows, kPixels, kBlocks * kVectorsPerBlock, kStep> tile;
  tile.Start(call);
  ForTapRows(call, [&](const float* in_row, const float* weights_row, int64_t row) NNEFC_SIMD_INLINE {
    for (int64_t column = 0; column < call.columns; ++column) {
      const unsigned seeing = PixelsInsideImage<kRows, kPixels>(call, row, column);
      const float* in = in_row + column * call.in_column;
      const float* weights = weights_row + column * call.weights_step;
      for (int64_t terms = call.terms; terms > 0; terms -= kBlockColumns, in += call.in_term) {
        for (int64_t line = 0; line < call.next_lines; ++line)
          __builtin_prefetch(weights + call.next + line * kLineFloats);
#pragma GCC unroll 16
        for (int i = 0; i < kPixels; ++i)
          __builtin_prefetch(in + call.in_term + i * (kStep == 0 ? call.in_pixel : kStep));
        const int64_t count = terms < kBlockColumns ? terms : kBlockColumns;
        const InputRows<kRows, kPixels, kStep> seen(in, call.in_pixel, call.in_below);
        if (seeing == kAll) {
          tile.template AddTerms<true>(seen, count, weights, kAll);
        } else {
          tile.template AddTerms<false>(seen, count, weights, seeing);
        }
      }
    }
  });
  tile.Store(call);
}

// A tile of a row-major image, with few channels. Taps outside the image for some pixels come last, one after
// another: the mask is then the same for all rows and channels, hence well predicted.
template <int kPixels, int kBlocks, int kStep>
NNEFC_SIMD_INLINE inline void TileOfPlanes(const DirectArguments& given) {
  constexpr unsigned kAll = (1U << kPixels) - 1;
  DirectArguments call = given;
  int64_t begin = 0, end = call.columns;
  while (begin < end && call.seeing[begin] != kAll) ++begin;
  while (begin < end && call.seeing[end - 1] != kAll) --end;
  for (int64_t tiles = call.tiles; tiles > 0; --tiles) {
    DirectSums<1, kPixels, kBlocks * kVectorsPerBlock, kStep> tile;
    tile.Start(call);
    ForTapRows(call, [&](const float* in_row, const float* weights_row, int64_t) NNEFC_SIMD_INLINE {
      for (int64_t term = 0; term < call.terms; ++term) {
        const float* in = in_row + term * call.in_term + begin * call.in_column;
        const float* weights = weights_row + term * call.weights_step + begin * kTileColumns;
        const float* below = in + call.in_below;
        for (int64_t i = 0; i < kPixels * (kStep == 0 ? call.in_pixel : kStep); i += kLineFloats)
          __builtin_prefetch(below + i);
        for (int64_t column = begin; column < end; ++column) {
          tile.template AddTerm<true>({in, call.in_pixel, 0}, 0, weights, kAll);
          in += call.in_column;
          weights += kTileColumns;
        }
      }
    });
    for (int64_t column = 0; column < call.columns; ++column) {
      if (column >= begin && column < end) continue;
      ForTapRows(call, [&](const float* in_row, const float* weights_row, int64_t) NNEFC_SIMD_INLINE {
        const float* in = in_row + column * call.in_column;
        const float* weights = weights_row + column * kTileColumns;
        for (int64_t term = 0; term < call.terms; ++term) {
          tile.template AddTerm<false>({in, call.in_pixel, 0}, 0, weights, call.seeing[column]);
          in += call.in_term;
          weights += call.weights_step;
        }
      });
    }
    tile.Store(call);
    call.in += kPixels * call.in_pixel;
    call.out += kPixels * kBlockColumns;
    if (call.start != nullptr) call.start += kPixels * kBlockColumns;
  }
}

using DirectFunction = void (*)(const DirectArguments&);

template <int kRows, int kPixels, int kBlocks, int kStep>
void CallTileOfBlocks(const DirectArguments& call) {
  RunSimd([&]() NNEFC_SIMD_INLINE { TileOfBlocks<kRows, kPixels, kBlocks, kStep>(call); });
}

template <int kPixels, int kBlocks, int kStep>
void CallTileOfPlanes(const DirectArguments& call) {
  RunSimd([&]() NNEFC_SIMD_INLINE { TileOfPlanes<kPixels, kBlocks, kStep>(call); });
}

// One instance per pixel count.
template <int kRows>
using DirectFunctions = std::array<DirectFunction, kTileRows / kRows>;

template <int kRows, int kBlocks, int kStep>
constexpr auto kTilesOfBlocks = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return DirectFunctions<kRows>{CallTileOfBlocks<kRows, static_cast<int>(kIndex) + 1, kBlocks, kStep>...};
}(std::make_index_sequence<kTileRows / kRows>());

template <int kBlocks, int kStep>
constexpr auto kTilesOfPlanes = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return DirectFunctions<1>{CallTileOfPlanes<static_cast<int>(kIndex) + 1, kBlocks, kStep>...};
}(std::make_index_sequence<kTileRows>());

template <int kBlocks>
DirectFunction FindTileOfBlocks(int64_t rows, int64_t pixels, int64_t step) {
  constexpr int kNext = kBlockColumns;
  const auto at = static_cast<size_t>(pixels - 1);
  if (rows == 2)
    return (step == kNext ? kTilesOfBlocks<2, kBlocks, kNext> : kTilesOfBlocks<2, kBlocks, 0>)[at];
  if (step == kNext) return kTilesOfBlocks<1, kBlocks, kNext>[at];
  return (step == 2 * kNext ? kTilesOfBlocks<1, kBlocks, 2 * kNext> : kTilesOfBlocks<1, kBlocks, 0>)[at];
}

template <int kBlocks>
DirectFunction FindTileOfPlanes(int64_t pixels, int64_t step) {
  return (step == 2 ? kTilesOfPlanes<kBlocks, 2>
                    : kTilesOfPlanes<kBlocks, 0>)[static_cast<size_t>(pixels - 1)];
}

DirectFunction FindTile(ImageOrder order, int64_t rows, int64_t pixels, int64_t blocks, int64_t step) {
  constexpr int kMax = kBlocksPerTile;
  if (order == ImageOrder::kRowMajor)
    return blocks == 1 ? FindTileOfPlanes<1>(pixels, step) : FindTileOfPlanes<kMax>(pixels, step);
  return blocks == 1 ? FindTileOfBlocks<1>(rows, pixels, step) : FindTileOfBlocks<kMax>(rows, pixels, step);
}

}  // namespace

void RunDirectMicrokernel(ImageOrder order, int64_t rows, int64_t pixels, int64_t blocks,
                          const DirectArguments& call) {
  const int64_t at_once = std::min(blocks, kBlocksPerTile);
  const DirectFunction tile = FindTile(order, rows, pixels, at_once, call.in_pixel);
  tile(call);
  if (blocks == at_once) return;
  // The second block separately, if registers hold the sums of a single block only.
  DirectArguments second = call;
  second.weights += kBlockColumns;
  if (second.bias != nullptr) second.bias += kBlockColumns;
  if (second.start != nullptr) second.start += call.out_block;
  second.out += call.out_block;
  second.next_lines = 0;
  tile(second);
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

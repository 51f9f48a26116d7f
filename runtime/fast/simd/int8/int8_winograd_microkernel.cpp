// Integer Winograd microkernels for int8 convolutions with 3x3 filters.

#include "runtime/fast/simd/int8/int8_winograd_microkernel.h"

#include <array>
#include <utility>

#include "compiler/support/x86.h"
#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

constexpr int kInt8Taps = kWinogradTaps, kInt8Results = kWinogradResults, kInt8Extent = kWinogradExtent;

// Sixteen 16-bit numbers, independent of the register width, and numbers modulo 2^32.
using Halves = int16_t __attribute__((vector_size(32)));
using HalvesAt = int16_t __attribute__((vector_size(32), aligned(2), may_alias));
using Residues = uint32_t __attribute__((vector_size(4 * NNEFC_SIMD_WIDTH)));
using ResiduesAt = uint32_t __attribute__((vector_size(4 * NNEFC_SIMD_WIDTH), aligned(4), may_alias));
using Results = int32_t __attribute__((vector_size(4 * NNEFC_SIMD_WIDTH)));

template <typename Code>
NNEFC_SIMD_INLINE inline void LoadHalves(const Code* from, Halves& halves) {
#if defined(NNEFC_X86)
  const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  halves = reinterpret_cast<Halves>(std::is_signed_v<Code> ? _mm256_cvtepi8_epi16(codes)
                                                           : _mm256_cvtepu8_epi16(codes));
#else
  for (int64_t i = 0; i < kBlockColumns; ++i) halves[i] = from[i];
#endif
}

// G along a filter axis, with rows scaled by 4, -6, -6, 24, 24 and 1: at most 7 times a quantized value.
NNEFC_SIMD_INLINE inline void TransformInt8Taps(const Halves (&g)[kInt8Taps], Halves (&y)[kInt8Extent]) {
  const Halves of_one = g[0] + g[2], of_two = g[0] + g[2] * 4, odd = g[1] * 2;
  y[0] = g[0];
  y[1] = of_one + g[1];
  y[2] = of_one - g[1];
  y[3] = of_two + odd;
  y[4] = of_two - odd;
  y[5] = g[2];
}

template <int kRow>
NNEFC_SIMD_INLINE inline void TransformCodedFilterRow(const Int8FilterTiles& given) {
  const Int8FilterTiles filter = given;  // local copy, to exclude aliasing
  for (int64_t at = 0; at < filter.pairs * 2 * kBlockColumns; at += kBlockColumns) {
    Halves row[kInt8Taps], products[kInt8Extent];
#pragma GCC unroll 3
    for (int x = 0; x < kInt8Taps; ++x) {
      Halves column[kInt8Taps], transformed[kInt8Extent];
#pragma GCC unroll 3
      for (int y = 0; y < kInt8Taps; ++y)
        LoadHalves(filter.taps + at + (y * kInt8Taps + x) * filter.tap_stride, column[y]);
      TransformInt8Taps(column, transformed);
      row[x] = transformed[kRow];
    }
    TransformInt8Taps(row, products);
#pragma GCC unroll 6
    for (int x = 0; x < kInt8Extent; ++x)
      *reinterpret_cast<HalvesAt*>(filter.out + at + x * filter.stride) = products[x];
  }
}

// B^T along an axis of an input tile: at most 10 times the largest input.
NNEFC_SIMD_INLINE inline void TransformInput(const Halves (&d)[kInt8Extent], Halves (&y)[kInt8Extent]) {
  const Halves last_even = d[4] - d[2], last_odd = d[3] - d[1];
  const Halves even = d[4] - d[2] * 4, odd = d[3] - d[1] * 4;
  y[0] = (d[0] - d[2]) * 4 + last_even;
  y[1] = even + odd;
  y[2] = even - odd;
  y[3] = last_even + last_odd * 2;
  y[4] = last_even - last_odd * 2;
  y[5] = (d[1] - d[3]) * 4 + (d[5] - d[3]);
}

// An input tile with kBlockColumns channels.
struct Int8TileInput {
  static constexpr auto kMiddle = static_cast<int16_t>(kMidpoint);
  Halves pixels[kInt8Extent][kInt8Extent];

  NNEFC_SIMD_INLINE void Fill(const Int8ImageTile& tile, int64_t channel) {
    const Halves middle = Halves{} + kMiddle;
    const uint8_t* first = tile.image + (tile.row * tile.columns + tile.column) * tile.channels + channel;
    for (int64_t y = 0; y < kInt8Extent; ++y, first += tile.columns * tile.channels) {
#pragma GCC unroll 6
      for (int64_t x = 0; x < kInt8Extent; ++x) {
        LoadHalves(first + x * tile.channels, pixels[y][x]);
        pixels[y][x] -= middle;
      }
    }
  }

  // Fills a tile that extends beyond the image.
  NNEFC_SIMD_INLINE void FillAtBorder(const Int8ImageTile& tile, int64_t channel) {
    const Halves border = Halves{} + static_cast<int16_t>(tile.border - kMidpoint);
    for (int64_t y = 0; y < kInt8Extent; ++y) {
      for (int64_t x = 0; x < kInt8Extent; ++x) {
        const int64_t row = tile.row + y, column = tile.column + x;
        pixels[y][x] = border;
        if (row < 0 || row >= tile.rows || column < 0 || column >= tile.columns) continue;
        LoadHalves(tile.image + (row * tile.columns + column) * tile.channels + channel, pixels[y][x]);
        pixels[y][x] -= kMiddle;
      }
    }
  }
};

NNEFC_SIMD_INLINE inline void TransformCodedTile(const Int8ImageTile& given) {
  const Int8ImageTile tile = given;  // local copy, to exclude aliasing
  const bool sees_all = tile.row >= 0 && tile.row + kInt8Extent <= tile.rows && tile.column >= 0 &&
                        tile.column + kInt8Extent <= tile.columns;
  for (int64_t channel = 0; channel < tile.channels; channel += kBlockColumns) {
    Int8TileInput seen;
    sees_all ? seen.Fill(tile, channel) : seen.FillAtBorder(tile, channel);
#pragma GCC unroll 6
    for (int x = 0; x < kInt8Extent; ++x) {
      Halves column[kInt8Extent], transformed[kInt8Extent];
#pragma GCC unroll 6
      for (int y = 0; y < kInt8Extent; ++y) column[y] = seen.pixels[y][x];
      TransformInput(column, transformed);
#pragma GCC unroll 6
      for (int y = 0; y < kInt8Extent; ++y) seen.pixels[y][x] = transformed[y];
    }
    int16_t* out = tile.out + channel;
    for (int y = 0; y < kInt8Extent; ++y) {
      Halves transformed[kInt8Extent];
      TransformInput(seen.pixels[y], transformed);
#pragma GCC unroll 6
      for (int x = 0; x < kInt8Extent; ++x, out += tile.stride)
        *reinterpret_cast<HalvesAt*>(out) = transformed[x];
    }
  }
}

// A^T along an axis of products, with columns scaled by 6, -4, -4, 1, 1 and 24: 24 times the results.
NNEFC_SIMD_INLINE inline void TransformInt8Products(const Residues (&m)[kInt8Extent],
                                                    Residues (&y)[kInt8Results]) {
  const Residues sum_of_one = m[1] + m[2], odd_of_one = m[1] - m[2];
  const Residues sum_of_two = m[3] + m[4], odd_of_two = m[3] - m[4];
  y[0] = ((m[0] - sum_of_one) << 2) + (m[0] << 1) + sum_of_two;
  y[1] = (odd_of_two - (odd_of_one << 1)) << 1;
  y[2] = (sum_of_two - sum_of_one) << 2;
  const Residues of_infinity = (m[5] << 1) + m[5];
  y[3] = (((odd_of_two + of_infinity) << 1) - odd_of_one) << 2;
}

NNEFC_SIMD_INLINE inline void TransformSumsOfTile(const Int8WinogradSums& sums, int64_t index, int64_t lane) {
  // Exact division by 576 = 9 * 64: multiplication by the inverse of 9 modulo 2^32, then a shift.
  constexpr uint32_t kNinth = 0x38E38E39;
  constexpr int kShift = 6;
  const int32_t* products = sums.products + index * kBlockColumns + lane;
  Residues columns[kInt8Results][kInt8Extent];
#pragma GCC unroll 6
  for (int x = 0; x < kInt8Extent; ++x) {
    Residues column[kInt8Extent], results[kInt8Results];
#pragma GCC unroll 6
    for (int y = 0; y < kInt8Extent; ++y)
      column[y] = *reinterpret_cast<const ResiduesAt*>(products + (y * kInt8Extent + x) * sums.stride);
    TransformInt8Products(column, results);
#pragma GCC unroll 4
    for (int y = 0; y < kInt8Results; ++y) columns[y][x] = results[y];
  }
  const auto offset = *reinterpret_cast<const ResiduesAt*>(sums.offsets + lane);
  int32_t* out = sums.out + index * kInt8Results * kBlockColumns + lane;
#pragma GCC unroll 4
  for (int y = 0; y < kInt8Results; ++y, out += sums.row_stride) {
    Residues results[kInt8Results];
    TransformInt8Products(columns[y], results);
#pragma GCC unroll 4
    for (int x = 0; x < kInt8Results; ++x) {
      const Results result = reinterpret_cast<Results>(results[x] * kNinth) >> kShift;
      *reinterpret_cast<ResiduesAt*>(out + x * kBlockColumns) = reinterpret_cast<Residues>(result) + offset;
    }
  }
}

using Int8FilterFunction = void (*)(const Int8FilterTiles&);

// One instance per row.
constexpr auto kInt8FilterRows = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<Int8FilterFunction, kInt8Extent>{[](const Int8FilterTiles& filter) {
    RunSimd([&]() NNEFC_SIMD_INLINE { TransformCodedFilterRow<static_cast<int>(kIndex)>(filter); });
  }...};
}(std::make_index_sequence<kInt8Extent>());

}  // namespace

void TransformInt8Filter(const Int8FilterTiles& filter) {
  kInt8FilterRows[static_cast<size_t>(filter.row)](filter);
}

void TransformInt8Image(const Int8ImageTile& tile) {
  RunSimd([&]() NNEFC_SIMD_INLINE { TransformCodedTile(tile); });
}

void TransformInt8Sums(const Int8WinogradSums& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const Int8WinogradSums sums = given;  // local copy, to exclude aliasing
    for (int64_t i = 0; i < sums.count; ++i) {
      for (int64_t lane = 0; lane < kBlockColumns; lane += kSimdWidth) TransformSumsOfTile(sums, i, lane);
    }
  });
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

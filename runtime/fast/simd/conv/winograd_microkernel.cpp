// Winograd microkernels: transforms of tiles of squares and of lines.

#include "runtime/fast/simd/conv/winograd_microkernel.h"

#include <array>
#include <utility>

#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

constexpr int kExtent = kWinogradExtent;

// The transform matrices for the points 0, a, -a, b, -b and infinity. Powers of these a and b have few
// digits, and results are about five times as accurate as with 1 and 2.
constexpr float kA = 0.75F, kB = 1.5F;
constexpr float kA2 = kA * kA, kB2 = kB * kB;
constexpr float kProductOfSquares = kA2 * kB2, kSumOfSquares = kA2 + kB2;

NNEFC_SIMD_INLINE inline FloatVector LoadVector(const float* from) {
  return *reinterpret_cast<const UnalignedFloatVector*>(from);
}

// G for kCount taps along a filter axis.
template <int kCount>
NNEFC_SIMD_INLINE inline void TransformTaps(const FloatVector (&g)[kCount], FloatVector (&y)[kExtent]) {
  // The terms of even and of odd powers of a point, divided by its product of differences.
  const auto put = [&](float point, float divisor, FloatVector& sum, FloatVector& difference)
                       NNEFC_SIMD_INLINE {
                         float factor = 1 / divisor;
                         FloatVector parts[] = {factor * g[0], (factor * point) * g[1]};
                         factor *= point * point;
#pragma GCC unroll 5
                         for (int tap = 2; tap < kCount; ++tap, factor *= point)
                           parts[tap % 2] += factor * g[tap];
                         sum = parts[0] + parts[1];
                         difference = parts[0] - parts[1];
                       };
  y[0] = (1 / kProductOfSquares) * g[0];
  put(kA, 2 * kA2 * (kA2 - kB2), y[1], y[2]);
  put(kB, 2 * kB2 * (kB2 - kA2), y[3], y[4]);
  y[5] = g[kCount - 1];
}

// Calls row(taps, products) for each input and part of the outputs, and stores the products.
template <typename Row>
NNEFC_SIMD_INLINE inline void ForFilters(const FilterTiles& filter, const Row& row) {
  const float* taps = filter.taps;
  float* out = filter.out;
  for (int64_t i = 0; i < filter.inputs; ++i, taps += filter.input_stride, out += kTileColumns) {
    for (int64_t block = 0; block < kTileColumns; block += kSimdWidth) {
      FloatVector products[kExtent];
      row(taps + block, products);
#pragma GCC unroll 6
      for (int x = 0; x < kExtent; ++x)
        *reinterpret_cast<UnalignedFloatVector*>(out + block + x * filter.stride) = products[x];
    }
  }
}

template <int kCount>
NNEFC_SIMD_INLINE inline void TransformFilterLine(const FilterTiles& given) {
  const FilterTiles filter = given;  // local copy, to exclude aliasing
  ForFilters(filter, [&](const float* taps, FloatVector(&products)[kExtent]) NNEFC_SIMD_INLINE {
    FloatVector line[kCount];
#pragma GCC unroll 5
    for (int x = 0; x < kCount; ++x) line[x] = LoadVector(taps + x * filter.tap_column);
    TransformTaps(line, products);
  });
}

template <int kCount, int kRow>
NNEFC_SIMD_INLINE inline void TransformFilterRow(const FilterTiles& given) {
  const FilterTiles filter = given;  // local copy, to exclude aliasing
  ForFilters(filter, [&](const float* taps, FloatVector(&products)[kExtent]) NNEFC_SIMD_INLINE {
    FloatVector row[kCount];
#pragma GCC unroll 3
    for (int x = 0; x < kCount; ++x) {
      FloatVector column[kCount], transformed[kExtent];
#pragma GCC unroll 3
      for (int y = 0; y < kCount; ++y)
        column[y] = LoadVector(taps + y * filter.tap_row + x * filter.tap_column);
      TransformTaps(column, transformed);
      row[x] = transformed[kRow];
    }
    TransformTaps(row, products);
  });
}

// An input tile: one channel block per pixel.
struct WinogradInputTile {
  const float* data;
  int64_t row_stride;

  NNEFC_SIMD_INLINE FloatVector operator()(int64_t row, int64_t column) const {
    return LoadVector(data + row * row_stride + column * kBlockColumns);
  }
};

struct ProductsOut {
  float* data;
  int64_t stride;

  // B^T along a row of the tile, after its columns.
  NNEFC_SIMD_INLINE void PutRow(const FloatVector (&d)[kExtent], int64_t row) const {
    const FloatVector even_a = d[4] - kB2 * d[2], odd_a = d[3] - kB2 * d[1];
    const FloatVector even_b = d[4] - kA2 * d[2], odd_b = d[3] - kA2 * d[1];
    Put(row, 0, kProductOfSquares * d[0] + (d[4] - kSumOfSquares * d[2]));
    Put(row, 1, even_a + kA * odd_a);
    Put(row, 2, even_a - kA * odd_a);
    Put(row, 3, even_b + kB * odd_b);
    Put(row, 4, even_b - kB * odd_b);
    Put(row, 5, kProductOfSquares * d[1] + (d[5] - kSumOfSquares * d[3]));
  }

 private:
  NNEFC_SIMD_INLINE void Put(int64_t row, int64_t column, const FloatVector& lanes) const {
    *reinterpret_cast<UnalignedFloatVector*>(data + (row * kExtent + column) * stride) = lanes;
  }
};

// One or two rows of products at a time, to stay in registers.
template <typename Row>
NNEFC_SIMD_INLINE inline void PutRowOf(const Row& row, int64_t index, const ProductsOut& out) {
  FloatVector lanes[kExtent];
#pragma GCC unroll 6
  for (int x = 0; x < kExtent; ++x) lanes[x] = row(x);
  out.PutRow(lanes, index);
}

// The rows of a point and of its negative.
template <typename Even, typename Odd>
NNEFC_SIMD_INLINE inline void PutRowsOf(const Even& even, const Odd& odd, int64_t index,
                                        const ProductsOut& out) {
  FloatVector sums[kExtent], differences[kExtent];
#pragma GCC unroll 6
  for (int x = 0; x < kExtent; ++x) {
    const FloatVector of_even = even(x), of_odd = odd(x);
    sums[x] = of_even + of_odd;
    differences[x] = of_even - of_odd;
  }
  out.PutRow(sums, index);
  out.PutRow(differences, index + 1);
}

NNEFC_SIMD_INLINE inline void TransformImageTile(const WinogradInputTile& d, const ProductsOut& out) {
  const auto of_zero = [&](int x) NNEFC_SIMD_INLINE {
    return kProductOfSquares * d(0, x) + (d(4, x) - kSumOfSquares * d(2, x));
  };
  const auto of_infinity = [&](int x) NNEFC_SIMD_INLINE {
    return kProductOfSquares * d(1, x) + (d(5, x) - kSumOfSquares * d(3, x));
  };
  PutRowOf(of_zero, 0, out);
  PutRowsOf([&](int x) NNEFC_SIMD_INLINE { return d(4, x) - kB2 * d(2, x); },
            [&](int x) NNEFC_SIMD_INLINE { return kA * (d(3, x) - kB2 * d(1, x)); }, 1, out);
  PutRowsOf([&](int x) NNEFC_SIMD_INLINE { return d(4, x) - kA2 * d(2, x); },
            [&](int x) NNEFC_SIMD_INLINE { return kB * (d(3, x) - kA2 * d(1, x)); }, 3, out);
  PutRowOf(of_infinity, 5, out);
}

// A copy of an input tile, zero-padded at the border of the image.
struct BorderTile {
  float pixels[kExtent * kExtent * kBlockColumns];

  // Copies the channels starting at `lane` of the block.
  NNEFC_SIMD_INLINE WinogradInputTile Of(const ImageTiles& tiles, int64_t column, int64_t lane) {
    for (int64_t y = 0; y < kExtent; ++y) {
      for (int64_t x = 0; x < kExtent; ++x) {
        const int64_t row = tiles.row + y, at = column + x;
        const bool sees = row >= 0 && row < tiles.rows && at >= 0 && at < tiles.columns;
        FloatVector lanes = {};
        if (sees) lanes = LoadVector(tiles.image + row * tiles.row_stride + at * tiles.pixel_stride + lane);
        *reinterpret_cast<UnalignedFloatVector*>(pixels + (y * kExtent + x) * kBlockColumns) = lanes;
      }
    }
    return {pixels, kExtent * kBlockColumns};
  }
};

NNEFC_SIMD_INLINE inline void TransformImageTiles(const ImageTiles& given) {
  const ImageTiles tiles = given;  // local copy, to exclude aliasing
  const int64_t row_stride = tiles.row_stride;
  // Pixels that are not contiguous are copied, too.
  const bool sees_rows =
      tiles.row >= 0 && tiles.row + kExtent <= tiles.rows && tiles.pixel_stride == kBlockColumns;
  for (int64_t i = 0; i < tiles.count; ++i) {
    const int64_t column = tiles.column + i * tiles.results;
    const bool sees_all = sees_rows && column >= 0 && column + kExtent <= tiles.columns;
    const float* first = tiles.image + tiles.row * row_stride + column * kBlockColumns;
    for (int64_t lane = 0; lane < kBlockColumns; lane += kSimdWidth) {
      const ProductsOut out = {tiles.out + i * kBlockColumns + lane, tiles.stride};
      if (sees_all) {
        TransformImageTile({first + lane, row_stride}, out);
      } else {
        BorderTile border;
        TransformImageTile(border.Of(tiles, column, lane), out);
      }
    }
  }
}

// One row of pixels per tile. Their distance does not matter to whole vectors.
NNEFC_SIMD_INLINE inline void TransformLineTiles(const ImageTiles& given) {
  const ImageTiles tiles = given;  // local copy, to exclude aliasing
  const bool sees_row = tiles.row >= 0 && tiles.row < tiles.rows;
  const float* row = tiles.image + (sees_row ? tiles.row : 0) * tiles.row_stride;
  for (int64_t i = 0; i < tiles.count; ++i) {
    const int64_t column = tiles.column + i * tiles.results;
    const bool sees_all = sees_row && column >= 0 && column + kExtent <= tiles.columns;
    for (int64_t lane = 0; lane < kBlockColumns; lane += kSimdWidth) {
      FloatVector pixels[kExtent] = {};
#pragma GCC unroll 6
      for (int64_t x = 0; x < kExtent; ++x) {
        const bool sees = sees_all || (sees_row && column + x >= 0 && column + x < tiles.columns);
        if (sees) pixels[x] = LoadVector(row + (column + x) * tiles.pixel_stride + lane);
      }
      ProductsOut{tiles.out + i * kBlockColumns + lane, tiles.stride}.PutRow(pixels, 0);
    }
  }
}

// A^T along an axis, for kCount results.
template <int kCount>
NNEFC_SIMD_INLINE inline void TransformProducts(const FloatVector (&m)[kExtent], FloatVector (&y)[kCount]) {
  const FloatVector sum_a = m[1] + m[2], difference_a = m[1] - m[2];
  const FloatVector sum_b = m[3] + m[4], difference_b = m[3] - m[4];
  y[0] = m[0] + sum_a + sum_b;
  float power_a = kA, power_b = kB;
#pragma GCC unroll 5
  for (int i = 1; i < kCount; ++i, power_a *= kA, power_b *= kB) {
    const FloatVector& of_a = i % 2 == 0 ? sum_a : difference_a;
    const FloatVector& of_b = i % 2 == 0 ? sum_b : difference_b;
    y[i] = i == kCount - 1 ? power_a * of_a + (power_b * of_b + m[kExtent - 1])
                           : power_a * of_a + power_b * of_b;
  }
}

template <int kCount, typename Limit>
NNEFC_SIMD_INLINE inline void TransformResultTile(const ResultTiles& tiles, int64_t index, int64_t lane,
                                                  const Limit& limit) {
  const float* products = tiles.products + index * kBlockColumns + lane;
  FloatVector columns[kCount][kExtent];
#pragma GCC unroll 6
  for (int x = 0; x < kExtent; ++x) {
    FloatVector column[kExtent], results[kCount];
#pragma GCC unroll 6
    for (int y = 0; y < kExtent; ++y) column[y] = LoadVector(products + (y * kExtent + x) * tiles.stride);
    TransformProducts(column, results);
#pragma GCC unroll 5
    for (int y = 0; y < kCount; ++y) columns[y][x] = results[y];
  }
  FloatVector bias = {};
  if (tiles.bias != nullptr) bias = LoadVector(tiles.bias + lane);
  const int64_t first = tiles.first_column - index * kCount, count = tiles.columns - index * kCount;
#pragma GCC unroll 5
  for (int y = 0; y < kCount; ++y) {
    if (y >= tiles.rows) return;
    if (y < tiles.first_row) continue;
    FloatVector results[kCount];
    TransformProducts(columns[y], results);
    const int64_t row = (y - tiles.first_row) * tiles.row_stride - first * tiles.pixel_stride + lane;
#pragma GCC unroll 5
    for (int x = 0; x < kCount; ++x) {
      if (x >= count) break;
      if (x < first) continue;
      FloatVector result = results[x] + bias;
      if (tiles.start != nullptr) result += LoadVector(tiles.start + row + x * tiles.pixel_stride);
      limit(result);
      *reinterpret_cast<UnalignedFloatVector*>(tiles.out + row + x * tiles.pixel_stride) = result;
    }
  }
}

template <int kCount>
NNEFC_SIMD_INLINE inline void TransformResultLine(const ResultTiles& given) {
  const ResultTiles tiles = given;  // local copy, to exclude aliasing
  DispatchLimits(tiles.limits, [&](const auto& limit) NNEFC_SIMD_INLINE {
    for (int64_t i = 0; i < tiles.count; ++i) {
      for (int64_t lane = 0; lane < kBlockColumns; lane += kSimdWidth) {
        FloatVector products[kExtent], results[kCount], bias = {};
        const float* from = tiles.products + i * kBlockColumns + lane;
#pragma GCC unroll 6
        for (int x = 0; x < kExtent; ++x) products[x] = LoadVector(from + x * tiles.stride);
        TransformProducts(products, results);
        if (tiles.bias != nullptr) bias = LoadVector(tiles.bias + lane);
        const int64_t first = tiles.first_column - i * kCount, remaining = tiles.columns - i * kCount;
#pragma GCC unroll 5
        for (int x = 0; x < kCount; ++x) {
          if (x >= remaining) break;
          if (x < first) continue;
          const int64_t place = (x - first) * tiles.pixel_stride + lane;
          FloatVector result = results[x] + bias;
          if (tiles.start != nullptr) result += LoadVector(tiles.start + place);
          limit(result);
          *reinterpret_cast<UnalignedFloatVector*>(tiles.out + place) = result;
        }
      }
    }
  });
}

template <int kCount>
NNEFC_SIMD_INLINE inline void TransformResultSquares(const ResultTiles& given) {
  const ResultTiles tiles = given;  // local copy, to exclude aliasing
  DispatchLimits(tiles.limits, [&](const auto& limit) NNEFC_SIMD_INLINE {
    for (int64_t i = 0; i < tiles.count; ++i) {
      for (int64_t lane = 0; lane < kBlockColumns; lane += kSimdWidth)
        TransformResultTile<kCount>(tiles, i, lane, limit);
    }
  });
}

using FilterFunction = void (*)(const FilterTiles&);
using ResultFunction = void (*)(const ResultTiles&);

// One instance per row.
template <int kCount>
constexpr auto kFilterRows = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<FilterFunction, kExtent>{[](const FilterTiles& filter) {
    RunSimd([&]() NNEFC_SIMD_INLINE { TransformFilterRow<kCount, static_cast<int>(kIndex)>(filter); });
  }...};
}(std::make_index_sequence<kExtent>());

// One instance per number of taps along each axis of a square.
constexpr size_t kSquareCount = kMaxSquareTaps - kMinSquareTaps + 1;
constexpr auto kFilterSquares = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<std::array<FilterFunction, kExtent>, kSquareCount>{
      kFilterRows<static_cast<int>(kMinSquareTaps + kIndex)>...};
}(std::make_index_sequence<kSquareCount>());
constexpr auto kResultSquares = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<ResultFunction, kSquareCount>{[](const ResultTiles& tiles) {
    RunSimd([&]() NNEFC_SIMD_INLINE {
      TransformResultSquares<static_cast<int>(WinogradResultsOf(kMinSquareTaps + kIndex))>(tiles);
    });
  }...};
}(std::make_index_sequence<kSquareCount>());

// One instance per number of taps and per number of results; the ranges are equal.
constexpr size_t kLineCount = kMaxLineTaps - kMinLineTaps + 1;
constexpr auto kFilterLines = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<FilterFunction, kLineCount>{[](const FilterTiles& filter) {
    RunSimd([&]()
                NNEFC_SIMD_INLINE { TransformFilterLine<static_cast<int>(kMinLineTaps + kIndex)>(filter); });
  }...};
}(std::make_index_sequence<kLineCount>());
constexpr auto kResultLines = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<ResultFunction, kLineCount>{[](const ResultTiles& tiles) {
    RunSimd([&]() NNEFC_SIMD_INLINE { TransformResultLine<static_cast<int>(kMinLineTaps + kIndex)>(tiles); });
  }...};
}(std::make_index_sequence<kLineCount>());
static_assert(WinogradResultsOf(kMaxLineTaps) == kMinLineTaps &&
              WinogradResultsOf(kMinLineTaps) == kMaxLineTaps);

}  // namespace

void TransformFilter(const FilterTiles& filter) {
  kFilterSquares[static_cast<size_t>(filter.count - kMinSquareTaps)][static_cast<size_t>(filter.row)](filter);
}

void TransformFilterLines(const FilterTiles& filter) {
  kFilterLines[static_cast<size_t>(filter.count - kMinLineTaps)](filter);
}

void TransformImage(const ImageTiles& tiles) {
  RunSimd([&]() NNEFC_SIMD_INLINE { TransformImageTiles(tiles); });
}

void TransformImageLines(const ImageTiles& tiles) {
  RunSimd([&]() NNEFC_SIMD_INLINE { TransformLineTiles(tiles); });
}

void TransformResult(const ResultTiles& tiles) {
  kResultSquares[static_cast<size_t>(WinogradResultsOf(tiles.results) - kMinSquareTaps)](tiles);
}

void TransformResultLines(const ResultTiles& tiles) {
  kResultLines[static_cast<size_t>(tiles.results - kMinLineTaps)](tiles);
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

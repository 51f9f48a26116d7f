// Winograd microkernels: transforms of tiles for 3x3 filters and for lines.

#include "runtime/fast/simd/conv/winograd_microkernel.h"

#include <array>
#include <utility>

#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

constexpr int kTaps = kWinogradTaps, kResults = kWinogradResults, kExtent = kWinogradExtent;

// The transform matrices for the points 0, a, -a, b, -b and infinity. Powers of these a and b have few
// digits, and results are about five times as accurate as with 1 and 2.
constexpr float kA = 0.75F, kB = 1.5F;
constexpr float kA2 = kA * kA, kB2 = kB * kB, kA3 = kA2 * kA, kB3 = kB2 * kB;
constexpr float kProductOfSquares = kA2 * kB2, kSumOfSquares = kA2 + kB2;

NNEFC_SIMD_INLINE inline FloatVector LoadVector(const float* from) {
  return *reinterpret_cast<const UnalignedFloatVector*>(from);
}

// G along a filter axis.
NNEFC_SIMD_INLINE inline void TransformTaps(const FloatVector (&g)[kTaps], FloatVector (&y)[kExtent]) {
  constexpr float kOfZero = 1 / kProductOfSquares;
  constexpr float kOfA = 1 / (2 * kA2 * (kA2 - kB2)), kOfB = 1 / (2 * kB2 * (kB2 - kA2));
  const FloatVector even_a = kOfA * g[0] + (kOfA * kA2) * g[2], odd_a = (kOfA * kA) * g[1];
  const FloatVector even_b = kOfB * g[0] + (kOfB * kB2) * g[2], odd_b = (kOfB * kB) * g[1];
  y[0] = kOfZero * g[0];
  y[1] = even_a + odd_a;
  y[2] = even_a - odd_a;
  y[3] = even_b + odd_b;
  y[4] = even_b - odd_b;
  y[5] = g[2];
}

// G for kCount taps of a line.
template <int kCount>
NNEFC_SIMD_INLINE inline void TransformLineTaps(const FloatVector (&g)[kCount], FloatVector (&y)[kExtent]) {
  // The terms of even and of odd powers of a point, divided by its product of differences.
  const auto put = [&](float point, float divisor, FloatVector& sum, FloatVector& difference)
                       NNEFC_SIMD_INLINE {
                         FloatVector parts[] = {{}, {}};
                         float factor = 1 / divisor;
#pragma GCC unroll 5
                         for (int tap = 0; tap < kCount; ++tap, factor *= point)
                           parts[tap % 2] += factor * g[tap];
                         sum = parts[0] + parts[1];
                         difference = parts[0] - parts[1];
                       };
  y[0] = (1 / kProductOfSquares) * g[0];
  put(kA, 2 * kA2 * (kA2 - kB2), y[1], y[2]);
  put(kB, 2 * kB2 * (kB2 - kA2), y[3], y[4]);
  y[5] = g[kCount - 1];
}

template <int kCount>
NNEFC_SIMD_INLINE inline void TransformFilterLine(const FilterLines& given) {
  const FilterLines filter = given;  // local copy, to exclude aliasing
  const float* taps = filter.taps;
  float* out = filter.out;
  for (int64_t i = 0; i < filter.inputs; ++i, taps += kCount * kTileColumns, out += kTileColumns) {
    for (int64_t block = 0; block < kTileColumns; block += kSimdWidth) {
      FloatVector given_taps[kCount], products[kExtent];
#pragma GCC unroll 5
      for (int tap = 0; tap < kCount; ++tap) given_taps[tap] = LoadVector(taps + block + tap * kTileColumns);
      TransformLineTaps(given_taps, products);
#pragma GCC unroll 6
      for (int x = 0; x < kExtent; ++x)
        *reinterpret_cast<UnalignedFloatVector*>(out + block + x * filter.stride) = products[x];
    }
  }
}

template <int kRow>
NNEFC_SIMD_INLINE inline void TransformFilterRow(const FilterTiles& given) {
  const FilterTiles filter = given;  // local copy, to exclude aliasing
  const float* taps = filter.taps;
  float* out = filter.out;
  for (int64_t i = 0; i < filter.inputs; ++i, taps += kTaps * kTaps * kTileColumns, out += kTileColumns) {
    for (int64_t block = 0; block < kTileColumns; block += kSimdWidth) {
      FloatVector row[kTaps], products[kExtent];
#pragma GCC unroll 3
      for (int x = 0; x < kTaps; ++x) {
        FloatVector column[kTaps], transformed[kExtent];
#pragma GCC unroll 3
        for (int y = 0; y < kTaps; ++y) column[y] = LoadVector(taps + block + (y * kTaps + x) * kTileColumns);
        TransformTaps(column, transformed);
        row[x] = transformed[kRow];
      }
      TransformTaps(row, products);
#pragma GCC unroll 6
      for (int x = 0; x < kExtent; ++x)
        *reinterpret_cast<UnalignedFloatVector*>(out + block + x * filter.stride) = products[x];
    }
  }
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
    const int64_t column = tiles.column + i * kResults;
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

// A^T along an axis of products.
NNEFC_SIMD_INLINE inline void TransformProducts(const FloatVector (&m)[kExtent], FloatVector (&y)[kResults]) {
  const FloatVector sum_a = m[1] + m[2], difference_a = m[1] - m[2];
  const FloatVector sum_b = m[3] + m[4], difference_b = m[3] - m[4];
  y[0] = m[0] + sum_a + sum_b;
  y[1] = kA * difference_a + kB * difference_b;
  y[2] = kA2 * sum_a + kB2 * sum_b;
  y[3] = kA3 * difference_a + (kB3 * difference_b + m[5]);
}

template <typename Limit>
NNEFC_SIMD_INLINE inline void TransformResultTile(const ResultTiles& tiles, int64_t index, int64_t lane,
                                                  const Limit& limit) {
  const float* products = tiles.products + index * kBlockColumns + lane;
  FloatVector columns[kResults][kExtent];
#pragma GCC unroll 6
  for (int x = 0; x < kExtent; ++x) {
    FloatVector column[kExtent], results[kResults];
#pragma GCC unroll 6
    for (int y = 0; y < kExtent; ++y) column[y] = LoadVector(products + (y * kExtent + x) * tiles.stride);
    TransformProducts(column, results);
#pragma GCC unroll 4
    for (int y = 0; y < kResults; ++y) columns[y][x] = results[y];
  }
  FloatVector bias = {};
  if (tiles.bias != nullptr) bias = LoadVector(tiles.bias + lane);
  const int64_t count = tiles.columns - index * kResults;
#pragma GCC unroll 4
  for (int y = 0; y < kResults; ++y) {
    if (y >= tiles.rows) return;
    FloatVector results[kResults];
    TransformProducts(columns[y], results);
    const int64_t row = y * tiles.row_stride + index * kResults * tiles.pixel_stride + lane;
#pragma GCC unroll 4
    for (int x = 0; x < kResults; ++x) {
      if (x >= count) break;
      FloatVector result = results[x] + bias;
      if (tiles.start != nullptr) result += LoadVector(tiles.start + row + x * tiles.pixel_stride);
      limit(result);
      *reinterpret_cast<UnalignedFloatVector*>(tiles.out + row + x * tiles.pixel_stride) = result;
    }
  }
}

// A^T for kCount results of a line.
template <int kCount>
NNEFC_SIMD_INLINE inline void TransformLineProducts(const FloatVector (&m)[kExtent],
                                                    FloatVector (&y)[kCount]) {
  const FloatVector sum_a = m[1] + m[2], difference_a = m[1] - m[2];
  const FloatVector sum_b = m[3] + m[4], difference_b = m[3] - m[4];
  float power_a = 1, power_b = 1;
#pragma GCC unroll 5
  for (int i = 0; i < kCount; ++i, power_a *= kA, power_b *= kB)
    y[i] = i % 2 == 0 ? power_a * sum_a + power_b * sum_b : power_a * difference_a + power_b * difference_b;
  y[0] += m[0];
  y[kCount - 1] += m[kExtent - 1];
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
        TransformLineProducts(products, results);
        if (tiles.bias != nullptr) bias = LoadVector(tiles.bias + lane);
        const int64_t remaining = tiles.columns - i * kCount;
#pragma GCC unroll 5
        for (int x = 0; x < kCount; ++x) {
          if (x >= remaining) break;
          const int64_t place = (i * kCount + x) * tiles.pixel_stride + lane;
          FloatVector result = results[x] + bias;
          if (tiles.start != nullptr) result += LoadVector(tiles.start + place);
          limit(result);
          *reinterpret_cast<UnalignedFloatVector*>(tiles.out + place) = result;
        }
      }
    }
  });
}

using FilterFunction = void (*)(const FilterTiles&);

// One instance per row.
constexpr auto kFilterRows = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<FilterFunction, kExtent>{[](const FilterTiles& filter) {
    RunSimd([&]() NNEFC_SIMD_INLINE { TransformFilterRow<static_cast<int>(kIndex)>(filter); });
  }...};
}(std::make_index_sequence<kExtent>());

// One instance per number of taps and per number of results; the ranges are equal.
constexpr size_t kLineCount = kMaxLineTaps - kMinLineTaps + 1;
constexpr auto kFilterLines = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<void (*)(const FilterLines&), kLineCount>{[](const FilterLines& filter) {
    RunSimd([&]()
                NNEFC_SIMD_INLINE { TransformFilterLine<static_cast<int>(kMinLineTaps + kIndex)>(filter); });
  }...};
}(std::make_index_sequence<kLineCount>());
constexpr auto kResultLines = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<void (*)(const ResultTiles&), kLineCount>{[](const ResultTiles& tiles) {
    RunSimd([&]() NNEFC_SIMD_INLINE { TransformResultLine<static_cast<int>(kMinLineTaps + kIndex)>(tiles); });
  }...};
}(std::make_index_sequence<kLineCount>());
static_assert(WinogradResultsOf(kMaxLineTaps) == kMinLineTaps &&
              WinogradResultsOf(kMinLineTaps) == kMaxLineTaps);

}  // namespace

void TransformFilter(const FilterTiles& filter) {
  kFilterRows[static_cast<size_t>(filter.row)](filter);
}

void TransformFilterLines(const FilterLines& filter) {
  kFilterLines[static_cast<size_t>(filter.count - kMinLineTaps)](filter);
}

void TransformImage(const ImageTiles& tiles) {
  RunSimd([&]() NNEFC_SIMD_INLINE { TransformImageTiles(tiles); });
}

void TransformImageLines(const ImageTiles& tiles) {
  RunSimd([&]() NNEFC_SIMD_INLINE { TransformLineTiles(tiles); });
}

void TransformResult(const ResultTiles& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const ResultTiles tiles = given;  // local copy, to exclude aliasing
    DispatchLimits(tiles.limits, [&](const auto& limit) NNEFC_SIMD_INLINE {
      for (int64_t i = 0; i < tiles.count; ++i) {
        for (int64_t lane = 0; lane < kBlockColumns; lane += kSimdWidth)
          TransformResultTile(tiles, i, lane, limit);
      }
    });
  });
}

void TransformResultLines(const ResultTiles& tiles) {
  kResultLines[static_cast<size_t>(tiles.results - kMinLineTaps)](tiles);
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

// Winograd microkernels for squares of 2x2 and 3x3 taps, and for 2 to 5 taps along one axis, called lines
// (Winograd, Arithmetic Complexity of Computations; Lavin and Gray, Fast Algorithms for Convolutional Neural
// Networks). For a filter g and an image tile d the results are A^T ((G g G^T) * (B^T d B)) A, or A^T (G g *
// B^T d) of a line. "Products" are the elements of the matrices in parentheses for each channel, and their
// sums over the channels.
#pragma once

#include "runtime/fast/simd/gemm/gemm_microkernel.h"
#include "runtime/fast/simd/limits.h"

namespace nnefc::runtime::fast::simd {

// Per axis of a square of 3x3 taps: filter taps, results of a tile, its receptive field, and the number of
// products.
inline constexpr int64_t kWinogradTaps = 3;
inline constexpr int64_t kWinogradResults = 4;
inline constexpr int64_t kWinogradExtent = kWinogradResults + kWinogradTaps - 1;
inline constexpr int64_t kWinogradProducts = kWinogradExtent * kWinogradExtent;
// All tiles have the same extent: one product per pixel, and fewer results with more taps.
inline constexpr int64_t kMinSquareTaps = 2, kMaxSquareTaps = 3;
inline constexpr int64_t kMinLineTaps = 2, kMaxLineTaps = 5;
inline constexpr int64_t WinogradResultsOf(int64_t taps) {
  return kWinogradExtent + 1 - taps;
}

// The filters of kTileColumns outputs. A call computes a row of the transforms G g G^T of squares, or G g of
// lines: kWinogradExtent products.
struct FilterTiles {
  const float* taps;  // the first tap of the first input, kTileColumns floats each
  int64_t count;      // taps along an axis
  // Floats between taps of a column and of a row, and between inputs. Taps may be in the opposite order.
  int64_t tap_row, tap_column, input_stride;
  int64_t inputs;
  int64_t row;  // of a square, 0 to kWinogradExtent - 1
  // kTileColumns per input, contiguous; `stride` floats between products of the row.
  float* out;
  int64_t stride;
};

// Horizontally adjacent tiles of one channel block, `results` pixels apart.
struct ImageTiles {
  const float* image;  // first pixel of the block
  int64_t row_stride;  // floats between rows
  int64_t pixel_stride = kBlockColumns;
  int64_t rows, columns;
  // The first pixel of the first receptive field; it may be in the border, as may pixels past the image.
  int64_t row, column;
  int64_t results;
  int64_t count;
  // One block per tile, contiguous; `stride` floats between products.
  float* out;
  int64_t stride;
};

// The products of horizontally adjacent tiles of one channel block, summed over the inputs, and their
// results.
struct ResultTiles {
  // Same layout as ImageTiles::out.
  const float* products;
  int64_t stride;
  int64_t count;
  // Initial values: per-channel bias, elements in the layout of `out`, both or neither.
  const float* bias = nullptr;
  const float* start = nullptr;
  float* out;          // the first pixel of the result
  int64_t row_stride;  // floats between rows of the result
  int64_t pixel_stride = kBlockColumns;
  // Rows and columns of the result, counted from the first tile: the end, where tiles are cropped, and the
  // first ones that exist.
  int64_t rows, columns;
  int64_t first_row = 0, first_column = 0;
  int64_t results;  // per tile, along each axis
  Limits limits = {};
};

// Computes one row of G g G^T for each input and output.
NNEFC_SIMD_FUNCTION(TransformFilter, void(const FilterTiles& filter));
// Computes G g of lines for each input and output.
NNEFC_SIMD_FUNCTION(TransformFilterLines, void(const FilterTiles& filter));
// Computes B^T d B of each tile: kWinogradProducts products, row by row. Pixels outside the image are zeros.
NNEFC_SIMD_FUNCTION(TransformImage, void(const ImageTiles& tiles));
// Computes B^T d of each tile of a line: kWinogradExtent products.
NNEFC_SIMD_FUNCTION(TransformImageLines, void(const ImageTiles& tiles));
// Computes A^T (products) A of each tile, adds the initial values, and applies the limits.
NNEFC_SIMD_FUNCTION(TransformResult, void(const ResultTiles& tiles));
// Computes A^T (products) of each tile of a line likewise.
NNEFC_SIMD_FUNCTION(TransformResultLines, void(const ResultTiles& tiles));

}  // namespace nnefc::runtime::fast::simd

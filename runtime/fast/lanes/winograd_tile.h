// Tiles of convolutions by 3x3 filters in fewer multiplications (Winograd, Arithmetic Complexity of
// Computations; Lavin and Gray, Fast Algorithms for Convolutional Neural Networks): of a filter g and what a
// tile sees of an image, d, the results are A^T ((G g G^T) * (B^T d B)) A. "Products" are what is multiplied
// for each channel, the elements of the matrices in parentheses, and sums of them over the channels.
#pragma once

#include "runtime/fast/lanes/limits.h"
#include "runtime/fast/lanes/product_tile.h"

namespace nnefc::runtime {

// Along an axis: taps of a filter, results of a tile, what it sees of the image, and its products.
inline constexpr int64_t kWinogradTaps = 3;
inline constexpr int64_t kWinogradResults = 4;
inline constexpr int64_t kWinogradExtent = kWinogradResults + kWinogradTaps - 1;
inline constexpr int64_t kWinogradProducts = kWinogradExtent * kWinogradExtent;

// Filters of kTileColumns outputs, and a row of their products.
struct FilterTiles {
  const float* taps;  // 9 of an input, each of kTileColumns, then those of the next
  int64_t inputs;
  int64_t row;
  // kTileColumns for each input, one behind the other; `stride` floats from one product of the row to the
  // next.
  float* out;
  int64_t stride;
};

// Tiles of one block of channels that lie beside one another, each kWinogradResults from the one before.
struct ImageTiles {
  const float* image;  // the block's first pixel
  int64_t row_stride;  // floats from one row to the next
  int64_t pixel_stride = kBlockColumns;
  int64_t rows, columns;
  // The first pixel that the first tile sees; it may lie in the border, as what lies behind the image may.
  int64_t row, column;
  int64_t count;
  // A block for each tile, one behind the other; `stride` floats from one product to the next.
  float* out;
  int64_t stride;
};

struct ResultTiles {
  // As ImageTiles::out.
  const float* products;
  int64_t stride;
  int64_t count;
  // What results begin with: a number for each channel, elements that lie as `out` does, both or nothing.
  const float* bias = nullptr;
  const float* start = nullptr;
  float* out;          // the first pixel of the first tile
  int64_t row_stride;  // floats from one row of the result to the next
  int64_t pixel_stride = kBlockColumns;
  int64_t rows, columns;  // of the result from there on: tiles end there
  Limits limits = {};
};

NNEFC_LANE_FUNCTION(TransformFilter, void(const FilterTiles& filter));
NNEFC_LANE_FUNCTION(TransformImage, void(const ImageTiles& tiles));
NNEFC_LANE_FUNCTION(TransformResult, void(const ResultTiles& tiles));

}  // namespace nnefc::runtime

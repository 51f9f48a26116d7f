// Tiles of convolutions of codes of 8 bits by 3x3 filters in fewer multiplications, as winograd_tile.h says,
// in integers: the points are 0, 1, -1, 2, -2 and infinity, of which each number that is multiplied fits 16
// bits. Numbers are codes less kMiddleCode, so that they are small on both sides. Sums of products are kept
// modulo 2^32; results are exact where the magnitude of the sums of such numbers is below kMostCodeResult.
#pragma once

#include "runtime/fast/lanes/code_tile.h"
#include "runtime/fast/lanes/winograd_tile.h"

namespace nnefc::runtime {

inline constexpr int64_t kMostCodeResult = int64_t{1} << 25;
inline constexpr int kMiddleCode = 128;

// Filters of kBlockColumns outputs, and a row of their products.
struct CodedFilterTiles {
  const int8_t* taps;  // of a pair of inputs 2 * kBlockColumns codes, as CodeTile has them
  int64_t tap_stride;  // codes from one tap to the next
  int64_t pairs;
  int64_t row;
  // As `taps` for each pair; `stride` numbers from one product of the row to the next.
  int16_t* out;
  int64_t stride;
};
NNEFC_LANE_FUNCTION(TransformCodedFilter, void(const CodedFilterTiles& filter));

// A tile of an image with its channels, a multiple of kBlockColumns, behind the pixels.
struct CodedImageTile {
  const uint8_t* image;
  int64_t rows, columns, channels;
  // The first pixel that it sees; it may lie in the border, as what lies behind the image may.
  int64_t row, column;
  int border;  // the code of what lies behind the image
  // Numbers of all channels; `stride` from one product to the next.
  int16_t* out;
  int64_t stride;
};
NNEFC_LANE_FUNCTION(TransformCodedImage, void(const CodedImageTile& tile));

// Tiles of kBlockColumns outputs that lie beside one another.
struct CodedSums {
  const int32_t* products;  // kBlockColumns of a tile; `stride` numbers from one product to the next
  int64_t stride;
  int64_t count;
  const int32_t* offsets;  // that results of kBlockColumns outputs get more
  // Rows of kWinogradResults results of each tile, each of kBlockColumns; `row_stride` numbers from one row
  // to the next.
  int32_t* out;
  int64_t row_stride;
};
NNEFC_LANE_FUNCTION(TransformCodedSums, void(const CodedSums& sums));

}  // namespace nnefc::runtime

// Integer Winograd microkernels for int8 convolutions with 3x3 filters (see simd/winograd_microkernel.h). The
// points 0, 1, -1, 2, -2 and infinity keep all multiplied values within 16 bits. Inputs are values minus
// kMidpoint, to limit both signs. Accumulators are modulo 2^32; results are exact if the magnitude of the
// sums is below kMaxWinogradSum.
#pragma once

#include "runtime/fast/simd/conv/winograd_microkernel.h"
#include "runtime/fast/simd/int8/dot2_microkernel.h"

namespace nnefc::runtime::fast::simd {

inline constexpr int64_t kMaxWinogradSum = int64_t{1} << 25;
inline constexpr int kMidpoint = 128;

// Filters of kBlockColumns outputs, and a row of their transforms.
struct Int8FilterTiles {
  const int8_t* taps;  // 2 * kBlockColumns weights per pair of inputs, as in Int8Dot2Tile
  int64_t tap_stride;  // weights from one tap to the next
  int64_t pairs;
  int64_t row;
  // Same layout as `taps` per pair; `stride` elements between transforms of the row.
  int16_t* out;
  int64_t stride;
};
NNEFC_SIMD_FUNCTION(TransformInt8Filter, void(const Int8FilterTiles& filter));

// A tile of an NHWC image with channels in multiples of kBlockColumns.
struct Int8ImageTile {
  const uint8_t* image;
  int64_t rows, columns, channels;
  // The first pixel of the receptive field; it may be in the border, as may pixels past the image.
  int64_t row, column;
  int border;  // value of border pixels
  // Elements of all channels; `stride` elements between transforms.
  int16_t* out;
  int64_t stride;
};
NNEFC_SIMD_FUNCTION(TransformInt8Image, void(const Int8ImageTile& tile));

// Horizontally adjacent tiles of kBlockColumns outputs.
struct Int8WinogradSums {
  const int32_t* products;  // kBlockColumns per tile; `stride` elements between transforms
  int64_t stride;
  int64_t count;
  const int32_t* offsets;  // added to the results of kBlockColumns outputs
  // Rows of kWinogradResults results per tile, with kBlockColumns each; `row_stride` elements between rows.
  int32_t* out;
  int64_t row_stride;
};
NNEFC_SIMD_FUNCTION(TransformInt8Sums, void(const Int8WinogradSums& sums));

}  // namespace nnefc::runtime::fast::simd

// int8 microkernels with i16 operands: values minus the zero point times quantized weights. Pairs of products
// are added in i32 (dot2), which is exact.
#pragma once

#include "runtime/fast/simd/dispatch.h"
#include "runtime/fast/simd/limits.h"

namespace nnefc::runtime::fast::simd {

// A conversion of one or more rows to values without zero point.
template <typename Number>
struct WidenedValues {
  const uint8_t* codes;
  int64_t count;  // values per row
  int zero;
  const int32_t* zeros = nullptr;  // by value of a row, kBlockColumns; null for `zero`
  Number* out;
  int64_t rows = 1;
  int64_t stride = 0, out_stride = 0;  // row strides
};
NNEFC_SIMD_FUNCTION(WidenToInt16, void(const WidenedValues<int16_t>& codes));
NNEFC_SIMD_FUNCTION(WidenToFloats, void(const WidenedValues<float>& codes));

// Accumulators of several pixels and kBlockColumns outputs modulo 2^32, with i8 or i16 weights.
inline constexpr int64_t kMaxDot2Pixels = 14;
template <typename Weight>
struct Dot2Tile {
  const int16_t* numbers;
  const int32_t* seen;  // offset of the first tap for each pixel
  // Contiguous strips of pairs of values, and the offset of each strip relative to a pixel's first tap.
  const int32_t* strips;
  int64_t strip_count, pairs;
  // Weights of kBlockColumns outputs for each pair, zero-padded.
  const Weight* weights;
  int32_t* sums;  // kBlockColumns per pixel
};
using Int8Dot2Tile = Dot2Tile<int8_t>;
using Int16Dot2Tile = Dot2Tile<int16_t>;
// Computes 1 to TileRows() pixels.
NNEFC_SIMD_FUNCTION(RunInt8Dot2Microkernel, void(int64_t pixels, const Int8Dot2Tile& tile));
NNEFC_SIMD_FUNCTION(RunInt16Dot2Microkernel, void(int64_t pixels, const Int16Dot2Tile& tile));

// Depthwise variant: kBlockColumns channels of several pixels. Uses f32, exact for at most
// kMaxDepthwiseTaps, with one FMA per product.
inline constexpr int64_t kMaxDepthwiseTaps = 512;
struct QuantizedDepthwise {
  const float* numbers;
  const int32_t* seen;  // same as above
  int64_t count;        // number of pixels
  const int32_t* taps;  // offsets relative to a pixel's first tap
  int64_t tap_count;
  const float* weights;  // kBlockColumns per tap
  int32_t* sums;
};
NNEFC_SIMD_FUNCTION(RunQuantizedDepthwise, void(const QuantizedDepthwise& codes));

// Requantization of accumulators: value = scales * (sum + bias), clamped within 0 to 255 and rounded with
// ties to even. Accumulators are integer multiples, so that exact ties are preserved in this order of
// operations.
struct RequantizedResults {
  const int32_t* sums;
  int64_t pixels, channels;    // the latter at most kBlockColumns
  const float *scales, *bias;  // kBlockColumns each
  float low, high;
  bool is_limited = true;  // false: low is 0, high 255, and no magnitude exceeds 2^31
  uint8_t* out;
  int64_t stride;  // stride between pixels
  // If `has_others`: value = factor * value + offset + other_factor * (previous value in `out` - other_zero).
  bool has_others = false;
  float factor = 1, offset = 0, other_factor = 0;
  int other_zero = 0;

  // Returns the parameters for a later pixel and block of kBlockColumns channels.
  RequantizedResults From(int64_t pixel, int64_t block) const {
    RequantizedResults moved = *this;
    moved.scales += block * kBlockColumns;
    moved.bias += block * kBlockColumns;
    moved.out += pixel * stride + block * kBlockColumns;
    return moved;
  }
};
NNEFC_SIMD_FUNCTION(StoreRequantized, void(const RequantizedResults& results));

// One row of requantized depthwise results for 3x3 windows and kBlockColumns channels: `results.pixels`
// pixels, with accumulators in registers only and input read in place.
struct QuantizedDepthwiseRow {
  // The first pixel of each window row, and the pixel stride; 0 for rows in the border.
  const uint8_t* rows[3];
  int64_t pixel_strides[3];
  int64_t inputs;          // pixels per row
  int64_t before, stride;  // the latter 1 or 2
  const int32_t* zeros;    // zero points of kBlockColumns channels; null if all are 0
  const float* weights;    // kBlockColumns per tap
};
NNEFC_SIMD_FUNCTION(StoreQuantizedDepthwise,
                    void(const QuantizedDepthwiseRow& row, const RequantizedResults& results));
// The accumulators of `pixels` results of such a row, kBlockColumns per pixel.
NNEFC_SIMD_FUNCTION(SumQuantizedDepthwise,
                    void(const QuantizedDepthwiseRow& row, int64_t pixels, int32_t* sums));

// Dequantization of accumulators: value = scales * sum plus per-channel `bias` and elementwise `start` in the
// layout of `out`, with limits.
struct DequantizedResults {
  const int32_t* sums;  // unused by VNNI tiles, like `pixels`
  int64_t pixels;
  const float* scales;
  const float* bias = nullptr;
  const float* start = nullptr;
  Limits limits = {};
  float* out;  // kBlockColumns per pixel
  int64_t stride;
  int64_t block_stride = kBlockColumns;  // between the blocks of VNNI tiles

  // Returns the parameters for a later pixel and block.
  DequantizedResults From(int64_t pixel, int64_t block) const {
    DequantizedResults moved = *this;
    const int64_t offset = pixel * stride + block * block_stride;
    moved.scales += block * kBlockColumns;
    if (bias != nullptr) moved.bias += block * kBlockColumns;
    if (start != nullptr) moved.start += offset;
    moved.out += offset;
    return moved;
  }
};
NNEFC_SIMD_FUNCTION(StoreDequantized, void(const DequantizedResults& results));

}  // namespace nnefc::runtime::fast::simd

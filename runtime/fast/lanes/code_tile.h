// Products of codes of 8 bits: numbers, which are codes less their zero, times codes of a filter. Of numbers
// of 16 bits, pairs of products are added in 32 bits, which is exact.
#pragma once

#include "runtime/fast/lanes/lanes.h"
#include "runtime/fast/lanes/limits.h"

namespace nnefc::runtime {

// Codes less their zero, of one row or some.
template <typename Number>
struct CodesAs {
  const uint8_t* codes;
  int64_t count;  // of a row
  int zero;
  Number* out;
  int64_t rows = 1;
  int64_t stride = 0, out_stride = 0;  // from one row to the next
};
NNEFC_LANE_FUNCTION(WidenCodes, void(const CodesAs<int16_t>& codes));
NNEFC_LANE_FUNCTION(WidenCodesToFloats, void(const CodesAs<float>& codes));

// Sums modulo 2^32 for some pixels and kBlockColumns outputs, by codes of a filter or by numbers.
inline constexpr int64_t kMostCodePixels = 14;
template <typename Weight>
struct SumTile {
  const int16_t* numbers;
  const int32_t* seen;  // of each pixel, how far what it sees first is
  // Strips of numbers that lie behind one another, in pairs, and how far the strips are from what a pixel
  // sees first.
  const int32_t* strips;
  int64_t strip_count, pairs;
  // For each pair those of kBlockColumns outputs; zeros behind the last output.
  const Weight* weights;
  int32_t* sums;  // kBlockColumns of each pixel
};
using CodeTile = SumTile<int8_t>;
using NumberTile = SumTile<int16_t>;
// Of 1 to TileRows() pixels.
NNEFC_LANE_FUNCTION(RunCodeTile, void(int64_t pixels, const CodeTile& tile));
NNEFC_LANE_FUNCTION(RunNumberTile, void(int64_t pixels, const NumberTile& tile));

// The same of each channel by itself: kBlockColumns channels of some pixels. In f32, which is exact for at
// most kMostDepthwiseTaps and takes one instruction for a product and its sum.
inline constexpr int64_t kMostDepthwiseTaps = 512;
struct DepthwiseCodes {
  const float* numbers;
  const int32_t* seen;  // as above
  int64_t count;        // of pixels
  const int32_t* taps;  // how far they are from what a pixel sees first
  int64_t tap_count;
  const float* weights;  // kBlockColumns of each tap
  int32_t* sums;
};
NNEFC_LANE_FUNCTION(RunDepthwiseCodes, void(const DepthwiseCodes& codes));

// What becomes of the sums of a tile: codes = scales * (sums + bias), between limits of 0 to 255, rounded to
// the even one of two that are as near. Sums are whole multiples of what scales are rounded from, so that
// halves stay halves in this order.
struct CodeResults {
  const int32_t* sums;
  int64_t pixels, channels;    // the latter at most kBlockColumns
  const float *scales, *bias;  // kBlockColumns of each
  float low, high;
  bool is_limited = true;  // false: low is 0, high 255, and no magnitude above 2^31
  uint8_t* out;
  int64_t stride;  // from one pixel to the next
  // If `has_others`, then codes = factor * codes + offset + other_factor * (what lies in `out` - other_zero).
  bool has_others = false;
  float factor = 1, offset = 0, other_factor = 0;
  int other_zero = 0;
};
NNEFC_LANE_FUNCTION(StoreCodeResults, void(const CodeResults& results));

// Codes of one row of results of the depthwise kind, by windows of three by three pixels, of kBlockColumns
// channels that are read as they lie; `results.pixels` of them, their sums in registers alone.
struct DepthwiseCodeRow {
  // Of each row of a window the first pixel, and how far the next one is: 0 where all are of the border.
  const uint8_t* rows[3];
  int64_t pixel_strides[3];
  int64_t inputs;          // pixels of a row
  int64_t before, stride;  // the latter 1 or 2
  int zero;
  const float* weights;  // kBlockColumns of each tap
};
NNEFC_LANE_FUNCTION(StoreDepthwiseCodes, void(const DepthwiseCodeRow& row, const CodeResults& results));

// Or numbers = scales * sums, to which `bias` is added by channel and `start`, which lies as `out` does,
// between limits.
struct NumberResults {
  const int32_t* sums;
  int64_t pixels;
  const float* scales;
  const float* bias = nullptr;
  const float* start = nullptr;
  Limits limits = {};
  float* out;  // kBlockColumns of each pixel
  int64_t stride;
};
NNEFC_LANE_FUNCTION(StoreNumberResults, void(const NumberResults& results));

}  // namespace nnefc::runtime

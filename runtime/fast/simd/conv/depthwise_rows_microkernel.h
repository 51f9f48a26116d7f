// Rows of a depthwise convolution with a small square window. The accumulators of several result rows stay in
// registers while the window moves along the row, so that each pixel is read and converted once.
#pragma once

#include "runtime/fast/simd/dispatch.h"
#include "runtime/fast/simd/limits.h"

namespace nnefc::runtime::fast::simd {

// The sizes of windows and their strides that these rows have, with dilation 1.
constexpr bool HasDepthwiseRows(int64_t size, int64_t stride) {
  return (size == 1 || size == 3 || size == 5) && (stride == 1 || stride == 2);
}
// The largest number of result rows of a call, for a window of `size` rows and columns.
NNEFC_SIMD_FUNCTION(DepthwiseRowsTogether, int64_t(int64_t size));
// The input rows of that many result rows.
constexpr int64_t kMaxDepthwiseInputRows = 9;

// Result rows of a block of kBlockColumns channels. `In` is uint8_t for quantized pixels in NHWC, or float
// for pixels of nChw16c; `Out` likewise.
template <typename In, typename Out>
struct DepthwiseRows {
  int64_t count;         // result rows, at most DepthwiseRowsTogether(size)
  int64_t size, stride;  // equal for rows and columns
  // The first pixel of each input row, (count - 1) * stride + size of them; rows in the border are zeros.
  const In* const* in;
  int64_t in_columns, in_pixel;  // pixels of a row, and the distance between them
  int64_t before;                // columns of the border on the left
  int64_t columns;               // results of a row
  int64_t channels;              // at most kBlockColumns; f32 pixels have all
  const float* weights;          // kBlockColumns for each tap
  const float* bias = nullptr;   // kBlockColumns, or null for zeros
  Limits limits = {};
  Out* out;
  int64_t out_row, out_pixel;  // distances
  // Quantized pixels: scale * (value - zero).
  int zero = 0;
  float scale = 1;
  // Quantized results: value = factors * x + offsets by channel, rounded with ties to even and clamped
  // within 0 to 255; NaN becomes 0. kBlockColumns each.
  const float *factors = nullptr, *offsets = nullptr;
};

NNEFC_SIMD_FUNCTION(RunDepthwiseRows, void(const DepthwiseRows<float, float>& rows));
NNEFC_SIMD_FUNCTION(RunDequantizingDepthwiseRows, void(const DepthwiseRows<uint8_t, float>& rows));
NNEFC_SIMD_FUNCTION(RunQuantizedDepthwiseRows, void(const DepthwiseRows<uint8_t, uint8_t>& rows));

}  // namespace nnefc::runtime::fast::simd

// int8 depthwise convolution with VNNI (dot4): four horizontally adjacent pixels of each channel are stored
// together, so that an instruction multiplies four taps of a filter row.
#pragma once

#include "runtime/fast/simd/int8/dot2_microkernel.h"
#include "runtime/fast/simd/int8/saturating_int8_microkernel.h"

namespace nnefc::runtime::fast::simd {

// A conversion of an image row of kBlockColumns channels to overlapping groups of four pixels: group i has
// the pixels from `first` + 2 * i on, four bytes for each channel.
struct PixelQuads {
  const uint8_t* pixels;   // of the image; null: all pixels are in the border
  int64_t inputs, stride;  // pixels, and bytes from one to the next
  int64_t channels;        // channels that exist; those after them are undefined
  int64_t first;           // the first pixel of the first group, negative in the border
  const uint8_t* border;   // the pixel of the border: kBlockColumns values
  int64_t quads;           // groups
  uint8_t* out;            // kQuadWeights values for each group
};
NNEFC_SIMD_FUNCTION(InterleavePixels, void(const PixelQuads& row));

// A conversion of pixels of kBlockColumns channels to f32: scale * (value - zero).
struct WidenedPixels {
  const uint8_t* pixels;
  int64_t count, stride;  // pixels, and bytes from one to the next
  int64_t channels;       // channels that exist; those after them are finite numbers
  int zero;
  float scale;
  float* out;  // kBlockColumns for each pixel
};
NNEFC_SIMD_FUNCTION(WidenPixels, void(const WidenedPixels& pixels));

// A row of results from the interleaved rows of the window.
struct Dot4DepthwiseRow {
  const uint8_t* const* rows;  // the first group of the first result in each row of the window
  int64_t row_count, quads;    // rows of the window, and groups of taps in each
  // kQuadWeights for each group of taps; with stride 1 the last weights of each row and channel are 0.
  const int8_t* weights;
  const int32_t* start;  // initial accumulators: kBlockColumns
  int64_t stride;        // 1 or 2
  int64_t pixels;        // results
  int32_t* sums;         // kBlockColumns accumulators for each result
  // If not null, requantizes in place of storing accumulators.
  const RequantizedResults* codes = nullptr;
};
// Requires HasVnni().
NNEFC_SIMD_FUNCTION(RunDot4Depthwise, void(const Dot4DepthwiseRow& row));

}  // namespace nnefc::runtime::fast::simd

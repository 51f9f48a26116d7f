// Direct convolution microkernel with accumulators in registers.
#pragma once

#include "runtime/fast/simd/gemm/gemm_microkernel.h"
#include "runtime/fast/simd/index_range.h"

namespace nnefc::runtime::fast::simd {

// The arguments of a tile: one row of 1 to TilePixels() pixels, or two rows of up to half as many.
struct DirectArguments {
  const float* in;  // first channel of the first tap of the first pixel
  // Input strides to the next pixel and to the row below.
  int64_t in_pixel, in_below;
  // Input channels: in blocks of kBlockColumns with this stride, or single channels.
  int64_t terms, in_term;
  // Numbers of taps, and their input strides.
  int64_t slices, rows, columns;
  int64_t in_slice, in_row, in_column;
  // For each tap column, a bit mask of pixels in a row whose tap is inside the image; and the tap rows that
  // are inside for each pixel row.
  const uint16_t* seeing;
  IndexRange seeing_rows[2];
  // Weights of the first tap and channel, kTileColumns each, and strides between slices, rows, and taps (of
  // blocks) or channels (single).
  const float* weights;
  int64_t weights_slice, weights_row, weights_step;
  // Initial accumulators: per-channel bias, elements in the layout of `out`, both or neither.
  const float* bias = nullptr;
  const float* start = nullptr;
  float* out;  // consecutive pixels; channel blocks with this stride
  int64_t out_block;
  Limits limits = {};
  // Prefetch: offset of a later tile's weights, and the number of cache lines to prefetch per channel block.
  int64_t next = 0;
  int64_t next_lines = 0;
  // The number of horizontally adjacent tiles of row-major images.
  int64_t tiles = 1;
};

enum class ImageOrder : uint8_t { kBlocked, kRowMajor };

// Computes `rows` rows of `pixels` pixels and `blocks` output channel blocks, 1 or 2 each.
NNEFC_SIMD_FUNCTION(RunDirectMicrokernel, void(ImageOrder order, int64_t rows, int64_t pixels, int64_t blocks,
                                               const DirectArguments& call));

}  // namespace nnefc::runtime::fast::simd

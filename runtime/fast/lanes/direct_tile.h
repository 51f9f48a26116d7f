// Sums of a convolution of all channels that stay in registers.
#pragma once

#include "runtime/fast/lanes/product_tile.h"
#include "runtime/fast/lanes/span.h"

namespace nnefc::runtime {

// A tile has a row of pixels, 1 to TilePixels(), or two rows of 1 to half as many.
struct DirectCall {
  const float* in;  // where the first tap of the first pixel sees the first channel
  // From what a pixel sees to what the next one and the one below do.
  int64_t in_pixel, in_below;
  // Channels that are added: in blocks of kBlockColumns that lie so far apart, or one by one.
  int64_t terms, in_term;
  // Taps, and how far from one to the next.
  int64_t slices, rows, columns;
  int64_t in_slice, in_row, in_column;
  // By column of taps, the pixels of a row that do not see the border there, a bit each; which rows of taps
  // the pixels of each row see.
  const uint16_t* seeing;
  Span seeing_rows[2];
  // Of the first tap and channel: kTileColumns for each. Those of a slice lie so far behind those of another;
  // those of a row and of a tap (of blocks) or of a channel (one by one) likewise.
  const float* weights;
  int64_t weights_slice, weights_row, weights_step;
  // What the sums begin with: a number for each channel, elements that lie as `out` does, both or nothing.
  const float* bias = nullptr;
  const float* start = nullptr;
  float* out;  // pixels behind one another, blocks of channels so far apart
  int64_t out_block;
  Limits limits = {};
  // How far behind the weights those lie that a later tile reads, and how much of them is fetched from memory
  // in the meantime: lines of a cache for each block of channels.
  int64_t next = 0;
  int64_t next_lines = 0;
  // So many tiles lie beside one another, of row-major images.
  int64_t tiles = 1;
};

enum class ImageOrder : uint8_t { kBlocked, kRowMajor };

// For `rows` rows of `pixels` pixels and `blocks` blocks of output channels, 1 or 2 each.
NNEFC_LANE_FUNCTION(RunDirectTile, void(ImageOrder order, int64_t rows, int64_t pixels, int64_t blocks,
                                        const DirectCall& call));

}  // namespace nnefc::runtime

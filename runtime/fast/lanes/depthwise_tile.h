// Sums of a convolution of each channel by itself that stay in registers.
#pragma once

#include "runtime/fast/lanes/product_tile.h"

namespace nnefc::runtime {

struct DepthwiseCall {
  const float* in;   // where the first tap of the first pixel sees the input
  int64_t in_pixel;  // to what the next pixel sees
  // Taps, and how far from one to the next.
  int64_t slices, rows, columns;
  int64_t in_slice, in_row, in_column;
  // By column of taps, the pixels that do not see the border there: a bit each.
  const uint16_t* seeing;
  const float* weights;  // of the first tap; those of a row lie behind one another
  int64_t weights_slice, weights_row;
  // What the sums begin with: a number for each channel, elements that lie as `out` does, both or nothing.
  const float* bias = nullptr;
  const float* start = nullptr;
  float* out;
  Limits limits = {};
};

NNEFC_LANE_FUNCTION(RunDepthwiseTile, void(int64_t pixels, const DepthwiseCall& call));

}  // namespace nnefc::runtime

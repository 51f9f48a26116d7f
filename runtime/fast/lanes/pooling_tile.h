// Maxima and means over windows of images with their channels in blocks.
#pragma once

#include "runtime/fast/lanes/lanes.h"

namespace nnefc::runtime {

// Pixels of a row that see the same taps, each `in_pixel` behind the one before.
struct PoolTile {
  const float* in;
  int64_t in_pixel;
  int64_t slices, rows, columns;
  int64_t in_slice, in_row, in_column;
  float* out;
  float counted;     // elements that a mean is of
  int64_t channels;  // of the block; what fills it becomes 0
  // What windows behind these see, so many lines of a cache for each pixel.
  const float* next;
  int64_t next_lines;
};

enum class PooledNumber : uint8_t { kMaximum, kMean };

// Of equal numbers the first is the maximum, and NaN is passed over.
NNEFC_LANE_FUNCTION(RunPoolTile, void(PooledNumber pooled, int64_t pixels, const PoolTile& tile));
// A tile has one of so many pixels.
inline constexpr int64_t kManyPooled = 8, kSomePooled = 4;

// Of all pixels of a block of channels, kBlockColumns numbers.
NNEFC_LANE_FUNCTION(MeanOfPixels, void(const float* in, int64_t pixels, float* out));

}  // namespace nnefc::runtime

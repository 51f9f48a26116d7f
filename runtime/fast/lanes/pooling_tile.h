// Max and average pooling of nChw16c images.
#pragma once

#include "runtime/fast/lanes/lanes.h"

namespace nnefc::runtime {

// Row pixels with the same valid taps; `in_pixel` is the input stride between them.
struct PoolTile {
  const float* in;
  int64_t in_pixel;
  int64_t slices, rows, columns;
  int64_t in_slice, in_row, in_column;
  float* out;
  float counted;     // divisor of an average
  int64_t channels;  // channels of the block; padding becomes 0
  // Prefetch: the input of following windows, in cache lines per pixel.
  const float* next;
  int64_t next_lines;
};

enum class PooledNumber : uint8_t { kMaximum, kMean };

// The first of equal elements is the maximum, and NaN is skipped.
NNEFC_LANE_FUNCTION(RunPoolTile, void(PooledNumber pooled, int64_t pixels, const PoolTile& tile));
// Supported numbers of pixels per tile.
inline constexpr int64_t kManyPooled = 8, kSomePooled = 4;

// Averages all pixels of a channel block to kBlockColumns numbers.
NNEFC_LANE_FUNCTION(MeanOfPixels, void(const float* in, int64_t pixels, float* out));

}  // namespace nnefc::runtime

// Max and average pooling of nChw16c images.
#pragma once

#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime::fast::simd {

// Row pixels with the same valid taps; `in_pixel` is the input stride between them.
struct PoolingTile {
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

enum class PoolingReduction : uint8_t { kMaximum, kMean };

// The first of equal elements is the maximum, and NaN is skipped.
NNEFC_SIMD_FUNCTION(RunPoolingMicrokernel,
                    void(PoolingReduction pooled, int64_t pixels, const PoolingTile& tile));
// Supported numbers of pixels per tile.
inline constexpr int64_t kPooledPixels8 = 8, kPooledPixels4 = 4;

// Averages all pixels of a channel block to kBlockColumns numbers.
NNEFC_SIMD_FUNCTION(AveragePixels, void(const float* in, int64_t pixels, float* out));

}  // namespace nnefc::runtime::fast::simd

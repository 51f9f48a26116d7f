// Convolution microkernel for few outputs: vectors of row pixels, multiplied by one weight per output.
#pragma once

#include "runtime/fast/simd/dispatch.h"
#include "runtime/fast/simd/limits.h"

namespace nnefc::runtime::fast::simd {

// Maximum outputs per tile.
inline constexpr int64_t kMaxFewOutputs = 4;

struct FewOutputTile {
  const float* in;  // first channel of the first tap of the first pixel
  int64_t channels, in_channel;
  int64_t rows, columns;  // numbers of taps
  int64_t in_row, in_column;
  const float* weights;  // per output, then tap, then channel
  float* out;            // initial accumulators and results
  int64_t out_plane;     // stride between outputs
  int64_t pixels;        // a multiple of kBlockColumns
  Limits limits = {};
};
NNEFC_SIMD_FUNCTION(RunFewOutputMicrokernel, void(int64_t outputs, const FewOutputTile& tile));

}  // namespace nnefc::runtime::fast::simd

// Dot products of a row with unpacked matrix rows.
#pragma once

#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime::fast::simd {

struct GemvBlock {
  const float* x;     // `inputs` elements
  const float* rows;  // consecutive rows
  int64_t inputs;
  int64_t first, last;  // index of the first row, and of the last valid one
  float* sums;          // kBlockColumns results; those past the last row repeat it
};
NNEFC_SIMD_FUNCTION(RunGemvMicrokernel, void(const GemvBlock& dots));

}  // namespace nnefc::runtime::fast::simd

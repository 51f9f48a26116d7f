// Depthwise convolution microkernel with accumulators in registers.
#pragma once

#include "runtime/fast/simd/gemm/gemm_microkernel.h"

namespace nnefc::runtime::fast::simd {

struct DepthwiseArguments {
  const float* in;   // input of the first tap of the first pixel
  int64_t in_pixel;  // input stride between pixels
  // Numbers of taps, and their input strides.
  int64_t slices, rows, columns;
  int64_t in_slice, in_row, in_column;
  // For each tap column, a bit mask of pixels whose tap is inside the image.
  const uint16_t* seeing;
  const float* weights;  // weights of the first tap; those of a row are contiguous
  int64_t weights_slice, weights_row;
  // Initial accumulators: per-channel bias, elements in the layout of `out`, both or neither.
  const float* bias = nullptr;
  const float* start = nullptr;
  float* out;
  Limits limits = {};
};

NNEFC_SIMD_FUNCTION(RunDepthwiseMicrokernel, void(int64_t pixels, const DepthwiseArguments& call));

}  // namespace nnefc::runtime::fast::simd

#pragma once

#include "compiler/ir/plan_functions.h"

namespace nnefc::runtime::fast::conv {

// The sizes of a convolution: pixels of the result, taps, input channels per group and output channels.
struct ConvolutionSizes {
  double pixels, taps, inputs, outputs;
  bool is_depthwise = false, is_pointwise = false, has_winograd = false;
};
// Return the time with f32 images in nanoseconds: of the fastest f32 kernel except Winograd, and of bf16
// multiplication (bf16_convolution.h).
double TimeInF32(const ConvolutionSizes& sizes);
double TimeOfBf16Gemm(const ConvolutionSizes& sizes);

// Returns the times of images with the instruction set in use; null if bf16 images are always the faster
// ones, or there are no bf16 instructions.
const ir::ImageTimes* ImageTimesOfProcessor();

}  // namespace nnefc::runtime::fast::conv

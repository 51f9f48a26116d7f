#pragma once

#include "runtime/kernels/kernel.h"
#include "runtime/kernels/window.h"

namespace nnefc::runtime {

// Maxima of images in bf16 with channels behind the pixels, in vectors of integers that are in the order of
// the numbers; NaN counts as negative infinity, as in runtime/kernels/pooling.cpp.
struct BfloatImages {
  int64_t batch, channels;
  Window window;  // of one step along the first axis
};
std::shared_ptr<const Kernel> MakeBfloatMaxPool(const BfloatImages& images);

}  // namespace nnefc::runtime

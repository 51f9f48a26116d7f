#pragma once

#include "runtime/kernels/kernel.h"
#include "runtime/kernels/window.h"

namespace nnefc::runtime {

// Max pooling of bf16 images in NHWC layout. Compares integers with the same order as the floats; NaN counts
// as negative infinity, as in runtime/kernels/pooling.cpp.
struct BfloatImages {
  int64_t batch, channels;
  Window window;  // stride 1 along the first axis
};
std::shared_ptr<const Kernel> MakeBfloatMaxPool(const BfloatImages& images);

}  // namespace nnefc::runtime

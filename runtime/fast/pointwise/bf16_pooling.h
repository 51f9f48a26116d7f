#pragma once

#include "runtime/kernels/kernel.h"
#include "runtime/kernels/windows/window.h"

namespace nnefc::runtime::fast::pointwise {

// Max pooling of bf16 images in NHWC layout. Compares integers with the same order as the floats; NaN counts
// as negative infinity, as in runtime/kernels/windows/pooling.cpp.
struct Bf16Images {
  int64_t batch, channels;
  kernels::Window window;  // stride 1 along the first axis
};
std::shared_ptr<const kernels::Kernel> MakeBf16MaxPool(const Bf16Images& images);

}  // namespace nnefc::runtime::fast::pointwise

#pragma once

#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast::int8 {

// Returns the kernel of FakeQuantize with f32 results. The limits are constants with one element, or with one
// per index of an axis, such as the channels of images.
kernels::KernelOrReason MakeFakeQuantize(const kernels::KernelRequest& request);

}  // namespace nnefc::runtime::fast::int8

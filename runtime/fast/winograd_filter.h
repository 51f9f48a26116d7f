#pragma once

#include <memory>

#include "oneapi/dnnl/dnnl.hpp"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// From a row-major filter [outputs, inputs, 3, 3] to what oneDNN's convolutions by Winograd's way multiply
// by: the filter transformed, in the order of `target`. Null for an order that is not known here.
std::shared_ptr<const Kernel> MakeWinogradFilter(const dnnl::memory::desc& target);

}  // namespace nnefc::runtime

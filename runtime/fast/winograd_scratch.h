#pragma once

#include "oneapi/dnnl/dnnl.hpp"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Which of its scratch memory a convolution by Winograd's way of tiles of 4x4 touches: not the place of a
// transformed filter, which it is given, nor the large pages between the transformed images. Nothing where
// oneDNN is another version than the one of which this is known, or the sizes are not those.
ScratchUse WinogradScratchUse(const dnnl::convolution_forward::primitive_desc& primitive);

}  // namespace nnefc::runtime

#pragma once

#include <memory>

#include "runtime/fast/dnnl_layout.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Lays a filter of some shape out in codes, as `form` tells them and `target` wants them, sums beside them
// included. Null for a description that is not known here.
std::shared_ptr<const ConstantKernel> MakeFilterRows(llvm::ArrayRef<int64_t> shape,
                                                     const DnnLayout::Form& form,
                                                     const dnnl::memory::desc& target);

}  // namespace nnefc::runtime

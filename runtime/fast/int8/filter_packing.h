#pragma once

#include <memory>

#include "runtime/kernels/kernel.h"
#include "runtime/onednn/dnnl_layout.h"

namespace nnefc::runtime {

// Creates a kernel that packs a quantized filter according to `form` in the layout `target`, including
// compensation sums. Returns null for unknown layouts.
std::shared_ptr<const ConstantKernel> MakeFilterPacking(llvm::ArrayRef<int64_t> shape,
                                                        const DnnLayout::Form& form,
                                                        const dnnl::memory::desc& target);

}  // namespace nnefc::runtime

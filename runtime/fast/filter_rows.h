#pragma once

#include <memory>

#include "runtime/fast/dnnl_layout.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// `whole`, which lays a filter of some shape out in codes; as a ConstantKernel that does it by rows, too,
// where `form` tells codes and oneDNN lays those out as `target`.
std::shared_ptr<const Kernel> WithFilterRows(std::shared_ptr<const Kernel> whole,
                                             llvm::ArrayRef<int64_t> shape, const DnnLayout::Form& form,
                                             const dnnl::memory::desc& target);

}  // namespace nnefc::runtime

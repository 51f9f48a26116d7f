#pragma once

#include <memory>
#include <vector>

#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/onednn/onednn.h"

namespace nnefc::runtime::onednn {

// Creates a reorder between two layouts: ours if there is one, otherwise oneDNN's. Returns null if there is
// none.
std::shared_ptr<const kernels::Kernel> MakeOneDnnReorder(ElementType type, llvm::ArrayRef<int64_t> shape,
                                                         const tensor::Layout& from,
                                                         const tensor::Layout& to);

// The scaling of elements in a reorder.
struct ReorderScales {
  std::vector<float> scales = {};
  int axes = 0;  // of the scales
  int32_t source_zero = 0;
};
// Creates oneDNN's reorder of the memory itself, or returns null.
std::shared_ptr<const kernels::Kernel> MakePrimitiveReorder(const fast::memory::BlockedFormat& source,
                                                            const fast::memory::BlockedFormat& target,
                                                            const ReorderScales& scales = {});

}  // namespace nnefc::runtime::onednn

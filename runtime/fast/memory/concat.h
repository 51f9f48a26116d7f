// Concat, and layouts that turn it into placement.
#pragma once

#include <optional>

#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/kernels/reason.h"

namespace nnefc::runtime::fast::memory {

// The common layout of parts and result: with channels in blocks, or NHWC if `block` is 0.
struct ConcatFormat {
  int64_t block = 0;
  StorageType type = StorageType::kF32;

  // Returns the format of a tensor of that shape in this layout.
  BlockedFormat Of(llvm::ArrayRef<int64_t> shape) const;
};
// Returns the common layout, in bf16 if any part is; nothing if no part has such a layout.
std::optional<ConcatFormat> CommonConcatFormat(llvm::ArrayRef<kernels::ValueInfo> parts, size_t axis);

// Returns the axis of a Concat, counted from the front.
size_t ConcatAxisOf(const kernels::KernelRequest& request);
// Returns an empty reason if a Concat has no fused operation and all tensors are dense f32, so that parts are
// only copied or placed.
kernels::Reason JoinsParts(const kernels::KernelRequest& request);

}  // namespace nnefc::runtime::fast::memory

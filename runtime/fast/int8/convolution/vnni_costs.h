#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "runtime/fast/gemm/inner_product_shape.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime::fast::int8 {

// Comparisons of our int8 kernels with those of oneDNN with VNNI, of dot products of four values each.

// Returns whether ours take less time for a convolution, or a matmul with a constant matrix of the given
// sizes.
bool IsFasterThanOneDnn(const kernels::KernelRequest& given);
bool IsFasterThanOneDnn(const kernels::KernelRequest& given, const gemm::InnerProduct& shape);
// The same for a depthwise convolution.
bool IsFasterDepthwise(const kernels::KernelRequest& given);
// Returns whether operations after the sums of a convolution with a filter [outputs, channels, ..] take less
// time in our epilogue than in oneDNN's kernels or in steps of their own.
bool IsFasterInOwnEpilogue(llvm::ArrayRef<int64_t> filter);
// The same for a matmul with that number of rows.
bool IsFasterInOwnEpilogueOf(int64_t rows);
// The same for a GroupConvolution with a filter [groups, outputs, channels, ..].
bool IsFasterInOwnGroupEpilogue(llvm::ArrayRef<int64_t> filter);

}  // namespace nnefc::runtime::fast::int8

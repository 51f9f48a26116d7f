#pragma once

#include "compiler/ir/graph.h"
#include "runtime/tensor/tensor_view.h"

namespace nnefc::runtime::kernels {

// Returns the strides that read `view` as a tensor of shape `target`, with 0 along broadcast axes. Axis 0 of
// the view is axis `first_axis` of the target (see BroadcastAxis).
tensor::Strides BroadcastStrides(const tensor::TensorView& view, llvm::ArrayRef<int64_t> target,
                                 int64_t first_axis);
// The same with the last axes of both aligned.
tensor::Strides BroadcastStrides(const tensor::TensorView& view, llvm::ArrayRef<int64_t> target);
// Returns the strides along the batch axes of a batch of matrices, broadcast to the shape `batch`.
tensor::Strides BatchStrides(const tensor::TensorView& view, llvm::ArrayRef<int64_t> batch);
// Returns the offset of element `index` of a batch, from the strides of its axes.
int64_t BatchOffset(llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> batch, int64_t index);
// Returns the axis of a result of rank `rank` that axis 0 of `view` is aligned with. The node's
// `auto_broadcast` "numpy" aligns the last axes, "pdpd" an explicit axis.
int64_t BroadcastAxis(const ir::Node& node, const tensor::TensorView& view, int64_t rank);
// Returns false if operands of a lower rank than the result may be aligned with other axes than the last.
bool AlignsLastAxes(const ir::Node& node);

}  // namespace nnefc::runtime::kernels

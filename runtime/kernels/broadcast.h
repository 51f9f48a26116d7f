#pragma once

#include "compiler/ir/graph.h"
#include "runtime/tensor/tensor_view.h"

namespace nnefc::runtime {

// The strides by which `view` is read as a tensor of shape `target`, whose axis
// `first_axis` is axis 0 of the view: 0 along repeated axes. By the node's
// `auto_broadcast`: "numpy" aligns last axes, "pdpd" axis 0 of the view with an
// axis of the target.
Strides BroadcastStrides(const TensorView& view, llvm::ArrayRef<int64_t> target, int64_t first_axis);
// The same with the last axes of both aligned.
Strides BroadcastStrides(const TensorView& view, llvm::ArrayRef<int64_t> target);
// Those of the axes of a batch of matrices that the view, of some of these, is broadcast to.
Strides BatchStrides(const TensorView& view, llvm::ArrayRef<int64_t> batch);
// How far element `index` of a batch is from the first one, by the strides of the axes of the batch.
int64_t BatchOffset(llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> batch, int64_t index);
// Where axis 0 of input `view` lies in a result of rank `rank`.
int64_t BroadcastAxis(const ir::Node& node, const TensorView& view, int64_t rank);
// True unless operands of another rank than the result lie elsewhere than at its end.
bool AlignsLastAxes(const ir::Node& node);

}  // namespace nnefc::runtime

// Strides of broadcast operands, and broadcast copies.

#include "runtime/kernels/arithmetic/broadcast.h"

#include "compiler/ir/ops/opset/schema.h"

namespace nnefc::runtime::kernels {

tensor::Strides BroadcastStrides(const tensor::TensorView& view, llvm::ArrayRef<int64_t> target,
                                 int64_t first_axis) {
  tensor::Strides strides(target.size(), 0);
  for (int64_t axis = 0; axis < view.rank(); ++axis) {
    const int64_t at = first_axis + axis;
    if (at < 0) continue;  // a leading axis of extent 1 beyond the target
    if (view.extent(axis) != 1) strides[static_cast<size_t>(at)] = view.strides()[static_cast<size_t>(axis)];
  }
  return strides;
}

tensor::Strides BroadcastStrides(const tensor::TensorView& view, llvm::ArrayRef<int64_t> target) {
  return BroadcastStrides(view, target, static_cast<int64_t>(target.size()) - view.rank());
}

tensor::Strides BatchStrides(const tensor::TensorView& view, llvm::ArrayRef<int64_t> batch) {
  Shape whole(batch.begin(), batch.end());
  whole.append({view.extent(view.rank() - 2), view.extent(view.rank() - 1)});
  const tensor::Strides all = BroadcastStrides(view, whole);
  return tensor::Strides(all.begin(), all.end() - 2);
}

int64_t BatchOffset(llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> batch, int64_t index) {
  int64_t offset = 0;
  for (size_t axis = batch.size(); axis-- > 0;) {
    offset += index % batch[axis] * strides[axis];
    index /= batch[axis];
  }
  return offset;
}

int64_t BroadcastAxis(const ir::Node& node, const tensor::TensorView& view, int64_t rank) {
  const int64_t axis = AlignsLastAxes(node) ? -1 : node.Int(ir::ops::opset::kPdpdAxis);
  return axis >= 0 && view.rank() < rank ? axis : rank - view.rank();
}

bool AlignsLastAxes(const ir::Node& node) {
  return node.String("auto_broadcast") != "pdpd";
}

}  // namespace nnefc::runtime::kernels

#include "runtime/kernels/broadcast.h"

#include "runtime/kernels/attributes.h"

namespace nnefc::runtime {

Strides BroadcastStrides(const TensorView& view, llvm::ArrayRef<int64_t> target, int64_t first_axis) {
  Strides strides(target.size(), 0);
  for (int64_t axis = 0; axis < view.rank(); ++axis) {
    const int64_t at = first_axis + axis;
    // A `pdpd` operand may have trailing axes of extent 1 beyond the target.
    if (at < 0 || at >= static_cast<int64_t>(target.size())) continue;
    if (view.extent(axis) != 1) strides[static_cast<size_t>(at)] = view.strides()[static_cast<size_t>(axis)];
  }
  return strides;
}

int64_t BroadcastAxis(const ir::Node& node, const TensorView& view, int64_t rank) {
  if (StringOr(node, "auto_broadcast", "numpy") == "pdpd" && view.rank() < rank) {
    const int64_t axis = IntOr(node, "axis", -1);
    if (axis >= 0) return axis;
  }
  return rank - view.rank();
}

}  // namespace nnefc::runtime

#include "runtime/fast/pointwise/folded_rows.h"

#include <utility>
#include <vector>

#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"
#include "runtime/kernels/attributes.h"

namespace nnefc::runtime::fast::pointwise {

using kernels::KernelRequest;
using kernels::OrReason;
using kernels::Reason;

OrReason<Folded> Fold(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes) {
  std::vector<bool> reduced(shape.size(), false);
  for (int64_t axis : axes) {
    axis = kernels::NormalAxis(axis, static_cast<int64_t>(shape.size()));
    if (axis < 0 || axis >= static_cast<int64_t>(shape.size())) return Reason("axis {}", axis);
    reduced[static_cast<size_t>(axis)] = true;
  }
  Folded folded;
  bool inside = false;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    if (reduced[axis]) {
      if (folded.inner != 1) return Reason("the reduced axes are not adjacent");
      inside = true;
      folded.terms *= shape[axis];
    } else {
      (inside ? folded.inner : folded.outer) *= shape[axis];
    }
  }
  if (folded.terms == 1) std::swap(folded.outer, folded.inner);
  return folded;
}

OrReason<llvm::SmallVector<int64_t, 8>> ConstantAxes(const KernelRequest& request, size_t input) {
  if (request.inputs.size() <= input || request.inputs[input].constant == nullptr)
    return Reason("the axes are not constant");
  llvm::SmallVector<int64_t, 8> axes;
  for (int64_t i = 0; i < request.inputs[input].constant->volume(); ++i)
    axes.push_back(request.inputs[input].constant->ElementAsInt(i));
  return axes;
}

Reason IsPlain(const KernelRequest& request) {
  if (!request.posts.empty()) return Reason("a fused operation");
  return request.outputs.size() == 1 && memory::IsDenseF32(request.inputs[0]) &&
                 memory::IsDenseF32(request.outputs[0])
             ? Reason()
             : kNotF32;
}

}  // namespace nnefc::runtime::fast::pointwise

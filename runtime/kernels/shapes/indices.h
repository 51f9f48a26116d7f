#pragma once

#include <cstdint>
#include <vector>

#include "runtime/kernels/fault.h"
#include "runtime/tensor/tensor_view.h"

namespace nnefc::runtime::kernels {

// Returns the number of elements for extents of an existing tensor, so that it cannot overflow.
int64_t VolumeOf(llvm::ArrayRef<int64_t> extents);

// Returns the elements of an integer tensor, or a fault for another type.
FaultOr<std::vector<int64_t>> IndexElements(const tensor::TensorView& indices);
// Returns a fault if an index is outside an axis: below -extent or from `extent` on.
FaultOr<Success> CheckIndices(const tensor::TensorView& indices, int64_t extent);
// Returns the position along an axis of an index within it. Negative ones count from the end.
template <typename T>
int64_t PositionOf(T index, int64_t extent) {
  const auto position = static_cast<int64_t>(index);
  return position + (position < 0 ? extent : 0);
}
// Returns indices as positions along an axis. Negative ones count from the end; out-of-range ones are a
// fault.
FaultOr<std::vector<int64_t>> Positions(const tensor::TensorView& indices, int64_t extent);

// Returns the single axis in an input, counted from the front. Shape functions check constant axes; this also
// checks those computed at run time.
FaultOr<size_t> AxisOf(const tensor::TensorView& axis, int64_t rank);
// The same for a list.
FaultOr<llvm::SmallVector<int64_t, 8>> AxesOf(const tensor::TensorView& axes, int64_t rank);

}  // namespace nnefc::runtime::kernels

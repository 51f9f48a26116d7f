#pragma once

#include <cstdint>
#include <vector>

#include "runtime/kernels/fault.h"
#include "runtime/tensor/tensor_view.h"

namespace nnefc::runtime {

// The number of elements of extents that a tensor has, which therefore fits.
int64_t VolumeOf(llvm::ArrayRef<int64_t> extents);

// The elements of a tensor of integers, or an error for another type.
FaultOr<std::vector<int64_t>> IndexElements(const TensorView& indices);
// Indices as positions of an axis; a negative one counts from the end, one
// outside is an error.
FaultOr<std::vector<int64_t>> Positions(const TensorView& indices, int64_t extent);

// The one axis that an input names, counted from the front. Shape functions
// check axes that are constant; this is for those that a run gives.
FaultOr<size_t> AxisOf(const TensorView& axis, int64_t rank);
// The same for a list.
FaultOr<llvm::SmallVector<int64_t, 8>> AxesOf(const TensorView& axes, int64_t rank);

}  // namespace nnefc::runtime

#pragma once

#include <cstdint>
#include <vector>

#include "compiler/support/error_or.h"
#include "runtime/tensor/tensor_view.h"

namespace nnefc::runtime {

// The elements of a tensor of integers, or an error for another type.
ErrorOr<std::vector<int64_t>> IndexElements(const TensorView& indices);
// Indices as positions of an axis; a negative one counts from the end, one
// outside is an error.
ErrorOr<std::vector<int64_t>> Positions(const TensorView& indices, int64_t extent);

}  // namespace nnefc::runtime

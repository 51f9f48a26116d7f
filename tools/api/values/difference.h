#pragma once

#include "compiler/support/tensor/tensor_value.h"

namespace nnefc::api {

// The same as RelativeDifference in tensors.h, for internal tensor values.
double RelativeDifference(const TensorValue& actual, const TensorValue& expected);

}  // namespace nnefc::api

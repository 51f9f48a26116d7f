#pragma once

#include "compiler/support/tensor/tensor_value.h"

namespace nnefc::api {

// As RelativeDifference of tensors.h, of the values that rooms share.
double RelativeDifference(const TensorValue& actual, const TensorValue& expected);

}  // namespace nnefc::api

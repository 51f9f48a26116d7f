#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "tools/api/tensor.h"

namespace nnefc::python {

// Converts an object that NumPy accepts as an array. Shares memory with dense, row-major, aligned arrays as
// long as the tensor exists; copies others. Raises TypeError, using `what` as its name, for objects that are
// not numeric or have unsupported element types.
api::Tensor ToTensor(nanobind::handle object, const std::string& what);
// Converts a dictionary of tensors; `what` is the name of an item in messages, such as "input".
api::Tensors ToTensors(nanobind::dict tensors, const char* what);

enum class Access { kReadOnly, kWritable };
// Returns a NumPy array that shares the memory of a tensor and keeps it alive. Elements of types unknown to
// NumPy are converted to f32 in a new array.
nanobind::object ToArray(const api::Tensor& tensor, Access access);
// Returns the bytes of a tensor as a read-only u8 array.
nanobind::object ToBytes(const api::Tensor& tensor);
nanobind::dict ToArrays(const api::Tensors& tensors);

}  // namespace nnefc::python

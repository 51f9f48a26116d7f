#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "tools/api/tensor.h"

namespace nnefc::python {

// A tensor of what NumPy can see as an array: of one that is dense, row-major
// and aligned, the same memory, held as long as the tensor lives; a copy of
// others. Raises TypeError, which calls it `what`, for what has no numbers, or
// elements that nnefc has not.
api::Tensor ToTensor(nanobind::handle object, const std::string& what);
// The tensors of a dictionary; `what` says what they are: "input".
api::Tensors ToTensors(nanobind::dict tensors, const char* what);

enum class Access { kReadOnly, kWritable };
// A NumPy array of the memory of a tensor, which it keeps alive. Elements that
// NumPy has not become f32, in an array of their own.
nanobind::object ToArray(const api::Tensor& tensor, Access access);
// The bytes of a tensor as a read-only array of u8.
nanobind::object ToBytes(const api::Tensor& tensor);
nanobind::dict ToArrays(const api::Tensors& tensors);

}  // namespace nnefc::python

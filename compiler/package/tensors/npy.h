#pragma once

#include <optional>
#include <string>

#include "compiler/package/data_source.h"
#include "compiler/support/context.h"
#include "compiler/support/tensor/tensor_value.h"

namespace nnefc::package {

// A named tensor: an input or output of a run.
struct NamedTensor {
  std::string name;
  TensorValue value;
};

// Reads an array in NumPy's format (versions 1.0 to 3.0): booleans, integers and floats of either byte order,
// row-major or column-major. Little-endian row-major numbers are mapped, not copied.
[[nodiscard]] std::optional<TensorValue> ReadNpy(const DataSource& source, Emitter& emitter);

// Writes an array in NumPy's format 1.0, row-major. bf16 becomes float32, and sub-byte types become 8-bit
// integers; strings are an error.
ErrorOr<Success> WriteNpy(const std::string& path, const TensorValue& value);

// Returns the header for the bytes of `NpyItems(value)`, padded to a multiple of 64 bytes.
std::string NpyHeader(const TensorValue& value);
// Returns the tensor converted to a type that NumPy supports.
TensorValue NpyItems(const TensorValue& value);

}  // namespace nnefc::package

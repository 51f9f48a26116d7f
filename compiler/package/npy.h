#pragma once

#include <optional>
#include <string>

#include "compiler/package/data_source.h"
#include "compiler/support/context.h"
#include "compiler/support/tensor/tensor_value.h"

namespace nnefc {

// A tensor and what it is called: an input or output of a run.
struct NamedTensor {
  std::string name;
  TensorValue value;
};

// Reads an array in NumPy's format (versions 1.0 to 3.0): booleans, integers
// and floats of either byte order, row- or column-major. Little-endian
// row-major numbers are mapped, not copied.
[[nodiscard]] std::optional<TensorValue> ReadNpy(const DataSource& source, Emitter& emitter);

// Writes an array in NumPy's format 1.0, row-major. bf16 becomes float32,
// types below a byte become 8-bit integers; strings cannot be written.
ErrorOr<Success> WriteNpy(const std::string& path, const TensorValue& value);

// The header that precedes the bytes of `NpyItems(value)`, padded so that they
// begin at a multiple of 64.
std::string NpyHeader(const TensorValue& value);
// The tensor converted to a type that NumPy has.
TensorValue NpyItems(const TensorValue& value);

}  // namespace nnefc

#pragma once

#include <cstdint>
#include <string_view>

#include "compiler/ir/op_schema.h"
#include "compiler/support/tensor/tensor_value.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::package {

// Generates the values determined by seed, name and role (tests/networks/README.md, rules 3 and 4): bitwise
// equal to those of `--random-weights`, `--random-inputs` and tests/networks/make_weights.py. `name` is the
// label of a variable, or for kInput the identifier of an external tensor. Floats have a distribution that
// depends on the role; other types are 0 and 1. Returns an invalid value if memory is short or the shape has
// no volume.
TensorValue RandomTensor(ir::DataRole role, uint64_t seed, std::string_view name, ElementType type,
                         llvm::ArrayRef<int64_t> shape);

}  // namespace nnefc::package

#pragma once

#include <cstdint>
#include <string_view>

#include "compiler/ir/op_schema.h"
#include "compiler/support/tensor/tensor_value.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc {

// Makes the values that the seed, the name and the role decide (tests/networks/README.md,
// rules 3 and 4): those of
// `--random-weights`, `--random-inputs` and tests/networks/make_weights.py, bit
// for bit. `name` is the label of a variable, or for kInput the identifier of an
// external tensor. Floats are spread by role; other types hold 0 and 1. Returns
// an invalid value if memory is short or the shape has no volume.
TensorValue RandomTensor(ir::DataRole role, uint64_t seed, std::string_view name, ElementType type,
                         llvm::ArrayRef<int64_t> shape);

}  // namespace nnefc

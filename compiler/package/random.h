#pragma once

#include <cstdint>
#include <string_view>

#include "compiler/support/tensor/tensor_value.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc {

// What a tensor is for, which decides how its random values are spread
// (tests/networks/README.md, rules 3 and 4).
enum class VariableRole : uint8_t { kFilter, kBias, kMean, kVariance, kOffset, kScale, kData };

// Makes the values that the seed, the name and the role decide: those of
// `--random-weights`, `--random-inputs` and tests/networks/make_weights.py, bit
// for bit. `name` is the label of a variable, or for kData the identifier of an
// external tensor. Floats are spread by role; other types hold 0 and 1. Returns
// an invalid value if memory is short or the shape has no volume.
TensorValue RandomTensor(VariableRole role, uint64_t seed, std::string_view name, ElementType type,
                         llvm::ArrayRef<int64_t> shape);

}  // namespace nnefc

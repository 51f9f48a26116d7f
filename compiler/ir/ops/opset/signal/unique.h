#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/support/tensor/tensor_value.h"

namespace nnefc::ir {

// Distinct elements of a tensor, or distinct slices of it along an axis (Unique-10).
struct UniqueItems {
  std::vector<int64_t> first;    // by distinct item: the index of its first occurrence
  std::vector<int64_t> counts;   // by distinct item
  std::vector<int64_t> inverse;  // by item of the tensor: which distinct item it is
};

// Finds them in O(n * log(n)) comparisons, in ascending order or in that of their first occurrence. All NaN
// are one item, after the others. Nothing for types without a type of C++. `bytes` are aligned to the
// elements.
std::optional<UniqueItems> FindUnique(ElementType type, const Shape& shape, const std::byte* bytes,
                                      std::optional<int64_t> axis, bool sorted);

}  // namespace nnefc::ir

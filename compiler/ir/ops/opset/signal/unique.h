#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/support/tensor/tensor_value.h"

namespace nnefc::ir::ops::opset::signal {

// Distinct elements of a tensor, or distinct slices of it along an axis (Unique-10).
struct UniqueItems {
  std::vector<int64_t> first;    // index of each distinct item's first occurrence
  std::vector<int64_t> counts;   // number of occurrences of each distinct item
  std::vector<int64_t> inverse;  // index of each item's distinct item
};

// Finds the distinct items in O(n * log(n)) comparisons, in ascending order or in order of their first
// occurrence. All NaN are one item, after the others. Returns nothing for types without a C++ type. `bytes`
// are aligned to the elements.
std::optional<UniqueItems> FindUnique(ElementType type, const Shape& shape, const std::byte* bytes,
                                      std::optional<int64_t> axis, bool sorted);

}  // namespace nnefc::ir::ops::opset::signal

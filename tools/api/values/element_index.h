#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::api {

// Returns the index of an element of a row-major tensor as text, such as "[3,1]".
inline std::string ElementIndex(llvm::ArrayRef<int64_t> extents, int64_t position) {
  std::vector<int64_t> index(extents.size());
  for (size_t axis = extents.size(); axis-- > 0;) {
    index[axis] = position % extents[axis];
    position /= extents[axis];
  }
  return fmt::format("[{}]", fmt::join(index, ","));
}

}  // namespace nnefc::api

#pragma once

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"

namespace nnefc {

// Returns the prefix of `extents` without the trailing ones that a shape implies where shapes align at their
// first dimension (R 4.1, P 4.1).
inline llvm::ArrayRef<int64_t> WithoutTrailingOnes(llvm::ArrayRef<int64_t> extents) {
  while (!extents.empty() && extents.back() == 1) extents = extents.drop_back();
  return extents;
}

}  // namespace nnefc

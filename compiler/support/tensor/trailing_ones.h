#pragma once

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"

namespace nnefc {

// Extents without the singular ones at the end, which a shape implies where
// shapes align at their first dimension (R 4.1, P 4.1). A part of `extents`.
inline llvm::ArrayRef<int64_t> WithoutTrailingOnes(llvm::ArrayRef<int64_t> extents) {
  while (!extents.empty() && extents.back() == 1) extents = extents.drop_back();
  return extents;
}

}  // namespace nnefc

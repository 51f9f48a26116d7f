#pragma once

#include <cstdint>

#include "runtime/kernels/fault.h"

namespace nnefc::runtime::kernels {

// Converts a negative axis, counted from the end. Does not check the range.
inline int64_t NormalAxis(int64_t axis, int64_t rank) {
  return axis < 0 ? axis + rank : axis;
}

}  // namespace nnefc::runtime::kernels

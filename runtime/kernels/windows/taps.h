#pragma once

#include <cstdint>

#include "llvm/ADT/SmallVector.h"

namespace nnefc::runtime::kernels {

// A term of an interpolated element: an input position along an axis, and its weight.
struct Tap {
  int64_t position;
  double weight;
};
using Taps = llvm::SmallVector<Tap, 4>;

inline constexpr double kFarthest = 1e9;  // coordinates beyond this are outside of any map

}  // namespace nnefc::runtime::kernels

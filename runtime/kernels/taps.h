#pragma once

#include <cstdint>

#include "llvm/ADT/SmallVector.h"

namespace nnefc::runtime {

// What one output position sums up along an axis of a map: positions with
// weights.
struct Tap {
  int64_t position;
  double weight;
};
using Taps = llvm::SmallVector<Tap, 4>;

inline constexpr double kFarthest = 1e9;  // coordinates beyond are outside of every map

}  // namespace nnefc::runtime

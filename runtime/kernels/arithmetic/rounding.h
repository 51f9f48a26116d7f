#pragma once

#include <cmath>

namespace nnefc::runtime::kernels {

// Returns floor(x + 0.5) without the rounding error of the sum: 0 for 0.49999997F, 8388609 for 8388609.0F. In
// the default rounding mode the difference between a number and the nearest integer is exact. Infinities and
// NaN are returned unchanged.
template <typename T>
[[gnu::always_inline]] inline T RoundedHalfUp(T x) {
  const T nearest = std::nearbyint(x);
  return nearest + (x - nearest == T(0.5) ? T(1) : T(0));
}

}  // namespace nnefc::runtime::kernels

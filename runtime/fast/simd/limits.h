#pragma once

namespace nnefc::runtime::fast::simd {

// An optional upper and lower limit of results (a fused ReLU or Clamp). Applied in this order:
// x < max ? x : max, then x > min ? x : min, so that NaN becomes a limit.
struct Limits {
  bool has_max = false, has_min = false;
  float max = 0, min = 0;

  // Returns the limited number.
  float Of(float x) const {
    if (has_max) x = x < max ? x : max;
    return !has_min || x > min ? x : min;
  }
};

}  // namespace nnefc::runtime::fast::simd

#pragma once

namespace nnefc::runtime::fast::simd {

// Limits of results, applied in this order: x < max ? x : max, then x > min ? x : min.
struct Limits {
  bool has_max = false, has_min = false;
  float max = 0, min = 0;

  float Of(float x) const {
    if (has_max) x = x < max ? x : max;
    return !has_min || x > min ? x : min;
  }
};

}  // namespace nnefc::runtime::fast::simd

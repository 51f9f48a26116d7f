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

// The levels of a FakeQuantize: values clamped to `low` and `high` are rounded to `steps` + 1 levels from
// `first` to `last` with ties to even. NaN is preserved.
struct FakeQuantizeLevels {
  float low, high, first, last;
  float steps;
};

}  // namespace nnefc::runtime::fast::simd

#pragma once

namespace nnefc::runtime {

// Limits of results, applied in this order: x < most ? x : most, then x > least ? x : least.
struct Limits {
  bool has_most = false, has_least = false;
  float most = 0, least = 0;

  float Of(float x) const {
    if (has_most) x = x < most ? x : most;
    return !has_least || x > least ? x : least;
  }
};

}  // namespace nnefc::runtime

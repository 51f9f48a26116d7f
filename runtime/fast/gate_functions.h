// Functions of gates, for loops that compilers turn into vectors (vector_math.h), as quotients that are not
// divided yet: of several, one division makes a product.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "runtime/fast/vector_math.h"

namespace nnefc::runtime {

struct Fraction {
  float above, below;
};

// Of bits, since compilers take a condition of numbers for a branch, and loops with branches for none of
// vectors.
[[gnu::always_inline]] inline float ChosenIf(bool condition, float chosen, float other) {
  const uint32_t mask = -static_cast<uint32_t>(condition);
  return std::bit_cast<float>((std::bit_cast<uint32_t>(chosen) & mask) |
                              (std::bit_cast<uint32_t>(other) & ~mask));
}

// tanh(x) by polynomials, within 5e-7; beyond 9 it is 1 or -1 exactly, so that a gate which is open all the
// way changes nothing. The denominator is between 0.004 and 2. NaN stays.
[[gnu::always_inline]] inline Fraction TanhFraction(float x) {
  const float s = x * x;
  float above = s * -2.76076847742355e-16f + 2.00018790482477e-13f;
  above = above * s - 8.60467152213735e-11f;
  above = above * s + 5.12229709037114e-08f;
  above = above * s + 1.48572235717979e-05f;
  above = above * s + 6.37261928875436e-04f;
  above = above * s + 4.89352455891786e-03f;
  float below = s * 1.19825839466702e-06f + 1.18534705686654e-04f;
  below = below * s + 2.26843463243900e-03f;
  below = below * s + 4.89352518554385e-03f;
  const bool is_far = std::fabs(x) > 9.0f;
  return {ChosenIf(is_far, std::copysign(1.0f, x), x * above), ChosenIf(is_far, 1.0f, below)};
}

// 1 / (1 + e^-x) as (1 + tanh(x / 2)) / 2, within 5e-7; beyond 18 it is 1, or 0. The denominator is between
// 0.008 and 4.
[[gnu::always_inline]] inline Fraction SigmoidFraction(float x) {
  const Fraction tanh = TanhFraction(0.5f * x);
  return {tanh.below + tanh.above, tanh.below + tanh.below};
}

}  // namespace nnefc::runtime

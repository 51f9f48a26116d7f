// Gate activation functions for auto-vectorised loops (simd/loop_math.h), as fractions, so that one division
// serves a product of several.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "runtime/fast/simd/loop_math.h"

namespace nnefc::runtime::fast::rnn {

struct Fraction {
  float above, below;
};

// Selects with bit operations, because compilers would turn a float condition into a branch and not vectorise
// the loop.
[[gnu::always_inline]] inline float SelectIf(bool condition, float chosen, float other) {
  const uint32_t mask = -static_cast<uint32_t>(condition);
  return std::bit_cast<float>((std::bit_cast<uint32_t>(chosen) & mask) |
                              (std::bit_cast<uint32_t>(other) & ~mask));
}

// tanh(x) as a quotient of polynomials, within 5e-7. Exactly 1 or -1 beyond 9, so that a fully open gate
// changes nothing. The denominator is between 0.004 and 2. NaN is preserved.
[[gnu::always_inline]] inline Fraction TanhFraction(float x) {
  float above, below;
  simd::TanhQuotient(x, above, below);
  const bool is_far = std::fabs(x) > 9.0f;
  return {SelectIf(is_far, std::copysign(1.0f, x), above), SelectIf(is_far, 1.0f, below)};
}

// 1 / (1 + e^-x) as (1 + tanh(x / 2)) / 2, within 5e-7; 1 or 0 beyond 18. The denominator is between 0.008
// and 4.
[[gnu::always_inline]] inline Fraction SigmoidFraction(float x) {
  const Fraction tanh = TanhFraction(0.5f * x);
  return {tanh.below + tanh.above, tanh.below + tanh.below};
}

}  // namespace nnefc::runtime::fast::rnn

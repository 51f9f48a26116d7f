// Functions of sixteen numbers, for loops in which compilers would take a clamp for paths of its own (each
// with all that follows: three divisions instead of one). Where they are called decides which registers they
// take; relative errors are below 1e-6.
#pragma once

#include "runtime/fast/vector_math.h"

namespace nnefc::runtime {

#define NNEFC_LANES [[gnu::always_inline]] inline

// x = x < low ? low : x > high ? high : x, so that NaN stays.
NNEFC_LANES void ClampLanes(LaneSums& x, float low, float high) {
  const LaneSums lows = LaneSums{} + low, highs = LaneSums{} + high;
  x = lows > x ? lows : x;
  x = highs < x ? highs : x;
}

// u = 2^u, infinite from 128 on; of NaN whatever comes.
NNEFC_LANES void PowerOf2Lanes(LaneSums& u) {
  using Bits = uint32_t __attribute__((vector_size(64)));
  ClampLanes(u, -126.0f, 128.0f);
  constexpr float kRound = 12582912.0f;  // its last bit is worth 1
  const LaneSums rounded = u + kRound;
  const LaneSums f = u - (rounded - kRound);
  LaneSums series = 1.32647273e-3f * f + 9.67151299e-3f;
  series = series * f + 5.55073358e-2f;
  series = series * f + 2.40222424e-1f;
  series = series * f + 6.93147004e-1f;
  series = series * f + 1.0f;
  u = reinterpret_cast<LaneSums>(reinterpret_cast<Bits>(series) + (reinterpret_cast<Bits>(rounded) << 23));
}

// x = x * sigmoid(beta * x); NaN where x is an infinity of which the sigmoid is 0.
NNEFC_LANES void SwishLanes(LaneSums& x, float beta) {
  LaneSums power = x * (beta * -1.44269504f);
  PowerOf2Lanes(power);
  x = x / (1.0f + power);
}

NNEFC_LANES void SigmoidLanes(LaneSums& x) {
  LaneSums power = x * -1.44269504f;
  PowerOf2Lanes(power);
  x = x == x ? 1.0f / (1.0f + power) : x;
}

// x = x * min(max(x + 3, 0), 6) / 6
NNEFC_LANES void HSwishLanes(LaneSums& x) {
  LaneSums y = x + 3.0f;
  ClampLanes(y, 0.0f, 6.0f);
  x = x * y * (1.0f / 6.0f);
}

// x = x * (1 + erf(x / sqrt(2))) / 2
NNEFC_LANES void GeluLanes(LaneSums& x) {
  LaneSums y = x * 0.707106781f;
  ClampLanes(y, -kErfEnd, kErfEnd);
  LaneSums above, below;
  ErfQuotient(y, above, below);
  x = 0.5f * x * (1.0f + above / below);
}

#undef NNEFC_LANES

}  // namespace nnefc::runtime

#include "runtime/fast/lanes/levels.h"

#include <algorithm>

#include "runtime/fast/lanes/lane_math.h"

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

namespace {

// Correctly rounded division by a constant: see VectorQuotient.
struct LaneQuotient {
  LaneFloats divisor, inverse;

  NNEFC_IN_LANES void Make(float by) {
    divisor = LaneFloats{} + by;
    inverse = LaneFloats{} + 1.0F / by;
  }
  NNEFC_IN_LANES void Divide(LaneFloats& x) const {
    const LaneFloats quotient = x * inverse;
    x = quotient + (x - quotient * divisor) * inverse;
  }
};

struct LevelMaker {
  LaneQuotient by_width, by_steps;
  LaneFloats high, last;
  float low, first, width, steps;

  NNEFC_IN_LANES void Make(const Levels& levels) {
    by_width.Make(levels.high - levels.low);
    by_steps.Make(levels.steps);
    high = LaneFloats{} + levels.high;
    last = LaneFloats{} + levels.last;
    low = levels.low;
    first = levels.first;
    width = levels.last - levels.first;
    steps = levels.steps;
  }

  NNEFC_IN_LANES void Round(LaneFloats& x) const {
    LaneFloats y = x;
    ClampLanes(y, low, high[0]);
    y = y - low;
    by_width.Divide(y);
    y = y * steps;
    RoundLanes(y);
    by_steps.Divide(y);
    y = y * width;
    RoundProduct(y);  // keeps the formula's rounding: 0 for zeros
    x = x > high ? last : y + first;
  }
};

}  // namespace

void RoundToLevels(const Levels& levels, const float* x, int64_t count, float* out) {
  RunInLanes([&]() NNEFC_IN_LANES {
    LevelMaker maker;
    maker.Make(levels);
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      LaneFloats numbers = *reinterpret_cast<const Lanes*>(x + i);
      maker.Round(numbers);
      *reinterpret_cast<Lanes*>(out + i) = numbers;
    }
    LaneFloats rest = {};
    for (int64_t lane = 0; i + lane < count; ++lane) rest[lane] = x[i + lane];
    maker.Round(rest);
    for (int64_t lane = 0; i + lane < count; ++lane) out[i + lane] = rest[lane];
  });
}

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE

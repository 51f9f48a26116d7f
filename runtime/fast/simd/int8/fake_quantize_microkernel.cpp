// FakeQuantize of contiguous elements.

#include "runtime/fast/simd/int8/fake_quantize_microkernel.h"

#include <algorithm>

#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

// Correctly rounded division by a constant: see VectorQuotient.
struct SimdQuotient {
  FloatVector divisor, inverse;

  NNEFC_SIMD_INLINE void Make(float by) {
    divisor = FloatVector{} + by;
    inverse = FloatVector{} + 1.0F / by;
  }
  NNEFC_SIMD_INLINE void Divide(FloatVector& x) const {
    const FloatVector quotient = x * inverse;
    x = quotient + (x - quotient * divisor) * inverse;
  }
};

struct LevelMaker {
  SimdQuotient by_width, by_steps;
  FloatVector high, last;
  float low, first, width, steps;

  NNEFC_SIMD_INLINE void Make(const FakeQuantizeLevels& levels) {
    by_width.Make(levels.high - levels.low);
    by_steps.Make(levels.steps);
    high = FloatVector{} + levels.high;
    last = FloatVector{} + levels.last;
    low = levels.low;
    first = levels.first;
    width = levels.last - levels.first;
    steps = levels.steps;
  }

  NNEFC_SIMD_INLINE void Round(FloatVector& x) const {
    FloatVector y = x;
    Clamp(y, low, high[0]);
    y = y - low;
    by_width.Divide(y);
    y = y * steps;
    RoundToEven(y);
    by_steps.Divide(y);
    y = y * width;
    PreventContraction(y);  // keeps the formula's rounding: 0 for zeros
    x = x > high ? last : y + first;
  }
};

}  // namespace

void FakeQuantizeRow(const FakeQuantizeLevels& levels, const float* x, int64_t count, float* out) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    LevelMaker maker;
    maker.Make(levels);
    int64_t i = 0;
    for (; i + kSimdWidth <= count; i += kSimdWidth) {
      FloatVector numbers = *reinterpret_cast<const UnalignedFloatVector*>(x + i);
      maker.Round(numbers);
      *reinterpret_cast<UnalignedFloatVector*>(out + i) = numbers;
    }
    FloatVector rest = {};
    for (int64_t lane = 0; i + lane < count; ++lane) rest[lane] = x[i + lane];
    maker.Round(rest);
    for (int64_t lane = 0; i + lane < count; ++lane) out[i + lane] = rest[lane];
  });
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

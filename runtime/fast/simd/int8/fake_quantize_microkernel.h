#pragma once

#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime::fast::simd {

// FakeQuantize: values clamped to `low` and `high` are rounded to `steps` + 1 levels from `first` to `last`
// with ties to even. NaN is preserved.
struct FakeQuantizeLevels {
  float low, high, first, last;
  float steps;
};
// `out` may be `x`.
NNEFC_SIMD_FUNCTION(FakeQuantizeRow,
                    void(const FakeQuantizeLevels& levels, const float* x, int64_t count, float* out));

}  // namespace nnefc::runtime::fast::simd

#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/fast/int8/quantization.h"
#include "runtime/fast/simd/loop_math.h"

namespace nnefc::runtime::fast::int8 {

// Quantizes `number(i)` for begin <= i < end to at least `least`, in loops that compilers vectorize: without
// conditional arithmetic or divisions.
template <typename Number>
[[gnu::always_inline]] inline void StoreUint8(const QuantizationRange& range, int64_t begin, int64_t end,
                                              int least, uint8_t* out, const Number& number) {
  constexpr int64_t kRow = 512;
  std::array<float, kRow> codes;
  const float low = range.low;
  const float width = range.high - range.low;
  const float farthest = width + std::abs(low);  // numbers this far away are saturated
  const simd::VectorQuotient by_width(width), by_scale(range.codes.scale);
  const auto zero = static_cast<float>(range.codes.zero);
  const auto first = static_cast<float>(least);
  for (int64_t row = begin; row < end; row += kRow) {
    const int64_t count = std::min(kRow, end - row);
    const auto from = [=](int64_t i) __attribute__((always_inline)) {
      return simd::VectorClamp(number(row + i), low - farthest, low + farthest + width);
    };
    float* code = codes.data();
    switch (range.formula) {
      case QuantizationRange::Formula::kFakeQuantize:
        // A separate loop rounds the multiplication, like the formula.
        for (int64_t i = 0; i < count; ++i) code[i] = by_width.Of(from(i) - low) * 255.0f;
        for (int64_t i = 0; i < count; ++i) {
          const float x = simd::VectorRound(code[i]);
          code[i] = x > first ? x : first;  // including NaN
        }
        break;
      case QuantizationRange::Formula::kMinMax:
        for (int64_t i = 0; i < count; ++i) code[i] = by_width.Of(from(i) - low) * 255.0f;
        for (int64_t i = 0; i < count; ++i) code[i] = simd::VectorRoundHalfUp(code[i]);
        break;
      case QuantizationRange::Formula::kZeroPoint:
        for (int64_t i = 0; i < count; ++i) code[i] = simd::VectorRoundHalfUp(by_scale.Of(from(i))) + zero;
        break;
    }
    for (int64_t i = 0; i < count; ++i) {
      float x = code[i] < 255.0f ? code[i] : 255.0f;  // including NaN
      x = x > first ? x : first;
      out[row + i] = static_cast<uint8_t>(static_cast<int32_t>(x));
    }
  }
}

}  // namespace nnefc::runtime::fast::int8

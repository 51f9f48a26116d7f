// FakeQuantize of contiguous elements.

#include "runtime/fast/simd/int8/fake_quantize_microkernel.h"

#include <algorithm>

#include "runtime/fast/simd/int8/requantize.h"
#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

// Correctly rounded division by a constant: see VectorQuotient.
struct SimdQuotient {
  FloatVector divisor, inverse;

  NNEFC_SIMD_INLINE void Make(const FloatVector& by) {
    divisor = by;
    inverse = 1.0F / by;
  }
  NNEFC_SIMD_INLINE void Divide(FloatVector& x) const {
    const FloatVector quotient = x * inverse;
    x = quotient + (x - quotient * divisor) * inverse;
  }
};

// The limits of each lane.
struct LevelMaker {
  SimdQuotient by_width, by_steps;
  FloatVector low, high, first, last, width;
  float steps;

  NNEFC_SIMD_INLINE void Make(float last_step) {
    steps = last_step;
    const FloatVector range = high - low;
    by_width.Make(range > 0.0F ? range : FloatVector{} + 1.0F);
    by_steps.Make(FloatVector{} + steps);
    width = last - first;
  }

  NNEFC_SIMD_INLINE void Round(FloatVector& x) const {
    FloatVector limited = low, y = high;
    Max(limited, x);  // NaN is preserved
    Min(y, limited);
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

// Quantization to 0 to 255.
struct LevelQuantizer {
  SimdQuotient by_width;
  FloatVector low, high;

  NNEFC_SIMD_INLINE void Make(const QuantizedLevels& levels) {
    low = FloatVector{} + levels.low;
    high = FloatVector{} + levels.high;
    by_width.Make(high - low);
  }

  // `out` has kBlockColumns elements.
  NNEFC_SIMD_INLINE void Store(const float* x, uint8_t* out) const {
    FloatVector codes[kVectorsPerBlock];
#pragma GCC unroll 2
    for (int64_t part = 0; part < kVectorsPerBlock; ++part) {
      FloatVector y = *reinterpret_cast<const UnalignedFloatVector*>(x + part * kSimdWidth);
      Max(y, low);  // also NaN becomes `low`
      Min(y, high);
      y = y - low;
      by_width.Divide(y);
      codes[part] = y * 255.0F;
    }
    StoreUint8(codes, out);
  }
};

}  // namespace

void FakeQuantizeRow(const FakeQuantizeLevels& levels, const float* x, int64_t count, float* out) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    LevelMaker maker;
    maker.low = FloatVector{} + levels.low;
    maker.high = FloatVector{} + levels.high;
    maker.first = FloatVector{} + levels.first;
    maker.last = FloatVector{} + levels.last;
    maker.Make(levels.steps);
    int64_t i = 0;
    for (; i + kSimdWidth <= count; i += kSimdWidth) {
      FloatVector numbers = *reinterpret_cast<const UnalignedFloatVector*>(x + i);
      maker.Round(numbers);
      *reinterpret_cast<UnalignedFloatVector*>(out + i) = numbers;
    }
    FloatVector rest;
    LoadFirst(rest, x + i, count - i, 0.0F);
    maker.Round(rest);
    StoreFirst(rest, count - i, out + i);
  });
}

void FakeQuantizeColumns(const FakeQuantizeColumnLevels& levels, const float* x, int64_t rows,
                         int64_t columns, float* out) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    for (int64_t column = 0; column < columns; column += kSimdWidth) {
      const int64_t count = columns - column < kSimdWidth ? columns - column : kSimdWidth;
      LevelMaker maker;
      LoadFirst(maker.low, levels.low + column, count, 0.0F);
      LoadFirst(maker.high, levels.high + column, count, 1.0F);
      LoadFirst(maker.first, levels.first + column, count, 0.0F);
      LoadFirst(maker.last, levels.last + column, count, 1.0F);
      maker.Make(levels.steps);
      for (int64_t row = 0; row < rows; ++row) {
        const float* from = x + row * columns + column;
        float* to = out + row * columns + column;
        FloatVector numbers;
        if (count == kSimdWidth) {  // masked stores are slow on processors with AVX2
          numbers = *reinterpret_cast<const UnalignedFloatVector*>(from);
          maker.Round(numbers);
          *reinterpret_cast<UnalignedFloatVector*>(to) = numbers;
        } else {
          LoadFirst(numbers, from, count, 0.0F);
          maker.Round(numbers);
          StoreFirst(numbers, count, to);
        }
      }
    }
  });
}

void QuantizeRow(const QuantizedLevels& levels, const float* x, int64_t count, uint8_t* out) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    LevelQuantizer quantizer;
    quantizer.Make(levels);
    int64_t i = 0;
    for (; i + kBlockColumns <= count; i += kBlockColumns) quantizer.Store(x + i, out + i);
    if (i == count) return;
    float numbers[kBlockColumns] = {};
    uint8_t codes[kBlockColumns];
    std::copy_n(x + i, count - i, numbers);
    quantizer.Store(numbers, codes);
    CopyFirstUint8(codes, count - i, out + i);
  });
}

void QuantizeBlock(const QuantizedLevels& levels, const float* x, int64_t rows, int64_t columns, uint8_t* out,
                   int64_t stride) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    // Local copies, to exclude aliasing with stores.
    LevelQuantizer quantizer;
    quantizer.Make(levels);
    const float* from = x;
    uint8_t* to = out;
    const int64_t step = stride;
    if (columns == kBlockColumns) {
      for (int64_t row = 0; row < rows; ++row, from += kBlockColumns, to += step) quantizer.Store(from, to);
      return;
    }
    uint8_t codes[kBlockColumns];
    for (int64_t row = 0; row < rows; ++row, from += kBlockColumns, to += step) {
      quantizer.Store(from, codes);
      CopyFirstUint8(codes, columns, to);
    }
  });
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

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
    FloatVector numbers[kVectorsPerBlock];
#pragma GCC unroll 4
    for (int64_t part = 0; part < kVectorsPerBlock; ++part)
      numbers[part] = *reinterpret_cast<const UnalignedFloatVector*>(x + part * kSimdWidth);
    Store(numbers, out);
  }
  NNEFC_SIMD_INLINE void Store(const FloatVector (&numbers)[kVectorsPerBlock], uint8_t* out) const {
    FloatVector codes[kVectorsPerBlock];
#pragma GCC unroll 4
    for (int64_t part = 0; part < kVectorsPerBlock; ++part) {
      FloatVector y = numbers[part];
      Max(y, low);  // also NaN becomes `low`
      Min(y, high);
      y = y - low;
      by_width.Divide(y);
      codes[part] = y * 255.0F;
    }
    StoreUint8(codes, out);
  }
};

// Loads a vector of numbers.
NNEFC_SIMD_INLINE inline void LoadNumbers(const QuantizedValues& from, int64_t i, FloatVector& x) {
  Int32Vector words;
  LoadUint8(from.values + i, words);
  x = __builtin_convertvector(words - from.zero, FloatVector) * from.scale;
}

struct SumLoader {
  QuantizedValues a, b;
  const float* slopes;

  explicit SumLoader(const QuantizedSums& sums) : a(sums.a), b(sums.b), slopes(sums.slopes) {}
  // Loads the elements at `i`, at `place` of a period.
  NNEFC_SIMD_INLINE void Load(int64_t i, int64_t place, FloatVector& sum) const {
    FloatVector other;
    LoadNumbers(a, i, sum);
    LoadNumbers(b, i, other);
    sum += other;
    if (slopes != nullptr)
      sum = sum < 0.0F ? sum * *reinterpret_cast<const UnalignedFloatVector*>(slopes + place) : sum;
  }
};

struct ProductLoader {
  QuantizedValues from;
  const float* scales;

  explicit ProductLoader(const QuantizedProducts& products) : from(products.from), scales(products.scales) {}
  NNEFC_SIMD_INLINE void Load(int64_t i, int64_t place, FloatVector& x) const {
    LoadNumbers(from, i, x);
    x *= *reinterpret_cast<const UnalignedFloatVector*>(scales + place);
  }
};

// Quantizes the whole blocks of what a loader returns; returns the number of their elements.
template <typename Loader, typename Values>
int64_t QuantizeBlocks(const Values& values) {
  const int64_t count = values.count / kBlockColumns * kBlockColumns;
  RunSimd([&]() NNEFC_SIMD_INLINE {
    // Local copies, to exclude aliasing with stores.
    const Loader loader(values);
    LevelQuantizer quantizer;
    quantizer.Make(values.levels);
    uint8_t* out = values.out;
    const int64_t last = values.period - kBlockColumns;
    int64_t place = 0;
    for (int64_t i = 0; i < count; i += kBlockColumns) {
      FloatVector numbers[kVectorsPerBlock];
#pragma GCC unroll 4
      for (int64_t part = 0; part < kVectorsPerBlock; ++part)
        loader.Load(i + part * kSimdWidth, place + part * kSimdWidth, numbers[part]);
      quantizer.Store(numbers, out + i);
      place = place == last ? 0 : place + kBlockColumns;
    }
  });
  return count;
}

// Copies of the last elements, fewer than a block.
template <typename Number>
struct LastElements {
  Number elements[kBlockColumns] = {};

  LastElements(const Number* from, int64_t begin, int64_t count) {
    if (from != nullptr) std::copy_n(from + begin, count, elements);
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

void QuantizeSums(const QuantizedSums& sums) {
  const int64_t done = QuantizeBlocks<SumLoader>(sums);
  if (done == sums.count) return;
  const int64_t left = sums.count - done;
  const LastElements a(sums.a.values, done, left), b(sums.b.values, done, left);
  const LastElements slopes(sums.slopes, done % sums.period, left);
  uint8_t codes[kBlockColumns];
  QuantizedSums last = sums;
  last.a.values = a.elements;
  last.b.values = b.elements;
  if (sums.slopes != nullptr) last.slopes = slopes.elements;
  last.count = kBlockColumns;
  last.out = codes;
  QuantizeBlocks<SumLoader>(last);
  std::copy_n(codes, left, sums.out + done);
}

void QuantizeProducts(const QuantizedProducts& products) {
  const int64_t done = QuantizeBlocks<ProductLoader>(products);
  if (done == products.count) return;
  const int64_t left = products.count - done;
  const LastElements values(products.from.values, done, left);
  const LastElements scales(products.scales, done % products.period, left);
  uint8_t codes[kBlockColumns];
  QuantizedProducts last = products;
  last.from.values = values.elements;
  last.scales = scales.elements;
  last.count = kBlockColumns;
  last.out = codes;
  QuantizeBlocks<ProductLoader>(last);
  std::copy_n(codes, left, products.out + done);
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

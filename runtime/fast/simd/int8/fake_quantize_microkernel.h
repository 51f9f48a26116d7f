#pragma once

#include "runtime/fast/simd/dispatch.h"
#include "runtime/fast/simd/limits.h"

namespace nnefc::runtime::fast::simd {

// FakeQuantize of contiguous elements; `out` may be `x`.
NNEFC_SIMD_FUNCTION(FakeQuantizeRow,
                    void(const FakeQuantizeLevels& levels, const float* x, int64_t count, float* out));

// FakeQuantize with different limits per column: arrays of `columns` limits. In a column with equal `low` and
// `high`, values up to it become `first` and others `last`.
struct FakeQuantizeColumnLevels {
  const float *low, *high, *first, *last;
  float steps;
};
// Row-major elements; `out` may be `x`.
NNEFC_SIMD_FUNCTION(FakeQuantizeColumns, void(const FakeQuantizeColumnLevels& levels, const float* x,
                                              int64_t rows, int64_t columns, float* out));

// Quantized values of FakeQuantize with 256 levels: values clamped to `low` and `high` become 0 to 255, with
// ties to even; NaN becomes 0.
struct QuantizedLevels {
  float low, high;
};
NNEFC_SIMD_FUNCTION(QuantizeRow,
                    void(const QuantizedLevels& levels, const float* x, int64_t count, uint8_t* out));
// The same for rows of kBlockColumns elements, of which the first `columns` are stored. Stored rows are
// `stride` apart.
NNEFC_SIMD_FUNCTION(QuantizeBlock, void(const QuantizedLevels& levels, const float* x, int64_t rows,
                                        int64_t columns, uint8_t* out, int64_t stride));

// A tensor of 8-bit values: scale * (value - zero).
struct QuantizedValues {
  const uint8_t* values;
  int zero;
  float scale;
};
// Quantized sums of two tensors. Negative sums are multiplied by the slope of their element, if there are
// any.
struct QuantizedSums {
  QuantizedValues a, b;
  const float* slopes;  // null: none
  // The slopes are repeated after this number of elements: a multiple of kBlockColumns, or at least `count`.
  int64_t period;
  int64_t count;
  QuantizedLevels levels;
  uint8_t* out;
};
NNEFC_SIMD_FUNCTION(QuantizeSums, void(const QuantizedSums& sums));

// Quantized products of a tensor by a scale for each element; `out` may be the tensor.
struct QuantizedProducts {
  QuantizedValues from;
  const float* scales;
  int64_t period;  // a multiple of kBlockColumns, or at least `count`
  int64_t count;
  QuantizedLevels levels;
  uint8_t* out;
};
NNEFC_SIMD_FUNCTION(QuantizeProducts, void(const QuantizedProducts& products));

}  // namespace nnefc::runtime::fast::simd

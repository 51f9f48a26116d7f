// Quantization of results after post-ops that are not linear functions of the accumulators.
#pragma once

#include "runtime/fast/simd/dispatch.h"
#include "runtime/fast/simd/gemm/epilogue_microkernel.h"
#include "runtime/fast/simd/limits.h"

namespace nnefc::runtime::fast::simd {

// Where quantized results are stored: value = factors * x + offsets by channel, rounded with ties to even and
// clamped within 0 to 255; NaN becomes 0.
struct QuantizedResults {
  int64_t pixels, channels;        // the latter at most kBlockColumns
  const float *factors, *offsets;  // kBlockColumns each
  uint8_t* out;
  int64_t stride;  // between pixels of `out`
};

// Quantizes f32 results, kBlockColumns per pixel.
NNEFC_SIMD_FUNCTION(StoreQuantizedBlock, void(const float* numbers, const QuantizedResults& results));

// A function of accumulators: x = f(limits(scales * sum + bias)).
struct ActivatedSums {
  const int32_t* sums;          // kBlockColumns per pixel
  const float* scales;          // by channel
  const float* bias = nullptr;  // by channel; null for zeros
  Limits limits = {};
  EpilogueFunction function = EpilogueFunction::kLinear;
  const float* operand = nullptr;  // of kAdd, kMultiply and kPRelu, by channel
  float alpha = 1, beta = 0;
};
// Quantizes the results of a function of accumulators.
NNEFC_SIMD_FUNCTION(StoreActivatedSums, void(const ActivatedSums& sums, const QuantizedResults& results));

}  // namespace nnefc::runtime::fast::simd

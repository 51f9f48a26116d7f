// Quantization of results after post-ops that are not linear functions of the accumulators.

#include "runtime/fast/simd/int8/quantized_results_microkernel.h"

#include <algorithm>

#include "runtime/fast/simd/gemm/epilogue_functions.h"
#include "runtime/fast/simd/int8/requantize.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

// Quantization parameters in registers.
struct ResultQuantizer {
  FloatVector factors[kVectorsPerBlock], offsets[kVectorsPerBlock];

  NNEFC_SIMD_INLINE void Make(const QuantizedResults& results) {
#pragma GCC unroll 2
    for (int64_t part = 0; part < kVectorsPerBlock; ++part) {
      factors[part] = *reinterpret_cast<const UnalignedFloatVector*>(results.factors + part * kSimdWidth);
      offsets[part] = *reinterpret_cast<const UnalignedFloatVector*>(results.offsets + part * kSimdWidth);
    }
  }

  NNEFC_SIMD_INLINE void Store(const FloatVector (&numbers)[kVectorsPerBlock], int64_t channels,
                               uint8_t* out) const {
    FloatVector codes[kVectorsPerBlock];
#pragma GCC unroll 2
    for (int64_t part = 0; part < kVectorsPerBlock; ++part) {
      const FloatVector x = numbers[part] * factors[part] + offsets[part];
      codes[part] = FloatVector{} + 255.0F;
      Min(codes[part], x);  // NaN is preserved
    }
    if (channels == kBlockColumns) return StoreUint8(codes, out);
    uint8_t bytes[kBlockColumns];
    StoreUint8(codes, bytes);
    CopyFirstUint8(bytes, channels, out);
  }
};

template <typename Limit, typename Function>
NNEFC_SIMD_INLINE inline void StoreActivated(const ActivatedSums& from, const QuantizedResults& to,
                                             const Limit& limit, const Function& function) {
  ResultQuantizer quantizer;
  quantizer.Make(to);
  FloatVector scales[kVectorsPerBlock], bias[kVectorsPerBlock];
#pragma GCC unroll 2
  for (int64_t part = 0; part < kVectorsPerBlock; ++part) {
    scales[part] = *reinterpret_cast<const UnalignedFloatVector*>(from.scales + part * kSimdWidth);
    bias[part] = FloatVector{};
    if (from.bias != nullptr)
      bias[part] = *reinterpret_cast<const UnalignedFloatVector*>(from.bias + part * kSimdWidth);
  }
  for (int64_t pixel = 0; pixel < to.pixels; ++pixel) {
    FloatVector numbers[kVectorsPerBlock];
#pragma GCC unroll 2
    for (int64_t part = 0; part < kVectorsPerBlock; ++part) {
      const int64_t lane = part * kSimdWidth;
      FloatVector x = __builtin_convertvector(
          *reinterpret_cast<const UnalignedInt32Vector*>(from.sums + pixel * kBlockColumns + lane),
          FloatVector);
      x = x * scales[part] + bias[part];
      limit(x);
      function(x, from.operand + lane);
      numbers[part] = x;
    }
    quantizer.Store(numbers, to.channels, to.out + pixel * to.stride);
  }
}

}  // namespace

void StoreQuantizedBlock(const float* numbers, const QuantizedResults& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const QuantizedResults results = given;  // local copy, to exclude aliasing
    ResultQuantizer quantizer;
    quantizer.Make(results);
    for (int64_t pixel = 0; pixel < results.pixels; ++pixel) {
      FloatVector block[kVectorsPerBlock];
#pragma GCC unroll 2
      for (int64_t part = 0; part < kVectorsPerBlock; ++part)
        block[part] = *reinterpret_cast<const UnalignedFloatVector*>(numbers + pixel * kBlockColumns +
                                                                     part * kSimdWidth);
      quantizer.Store(block, results.channels, results.out + pixel * results.stride);
    }
  });
}

void StoreActivatedSums(const ActivatedSums& given_sums, const QuantizedResults& given) {
  VisitEpilogueFunction(given_sums.function, given_sums.alpha, given_sums.beta, [&](const auto& function) {
    RunSimd([&]() NNEFC_SIMD_INLINE {
      // Local copies, to exclude aliasing.
      const ActivatedSums sums = given_sums;
      const QuantizedResults results = given;
      const auto own_function = function;
      DispatchLimits(sums.limits, [&](const auto& limit) NNEFC_SIMD_INLINE {
        StoreActivated(sums, results, limit, own_function);
      });
    });
  });
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

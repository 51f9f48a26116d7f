// Microkernel for sums and normalization of quantized pixels.

#include "runtime/fast/simd/pointwise/code_moments_microkernel.h"

#include "runtime/fast/simd/int8/requantize.h"
#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

// Calls each(part, words) for the vectors of each pixel.
template <bool kIsWhole, typename Each>
NNEFC_SIMD_INLINE inline void ForPixels(const CodePixels& pixels, const Each& each) {
  const uint8_t* from = pixels.from;
  for (int64_t pixel = 0; pixel < pixels.pixels; ++pixel, from += pixels.step) {
#pragma GCC unroll 2
    for (int part = 0; part < kVectorsPerBlock; ++part) {
      Int32Vector words;
      LoadChannels<kIsWhole>(from, pixels.channels, part, words);
      each(pixel, part, words);
    }
  }
}

template <typename Each>
NNEFC_SIMD_INLINE inline void ForEachPixel(const CodePixels& pixels, const Each& each) {
  if (pixels.channels == kBlockColumns) return ForPixels<true>(pixels, each);
  ForPixels<false>(pixels, each);
}

}  // namespace

void SumCodes(const CodePixels& given, int64_t* values, int64_t* squares) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const CodePixels pixels = given;  // local copy, to exclude aliasing
    Int32Vector of_values[kVectorsPerBlock] = {}, of_squares[kVectorsPerBlock] = {};
    ForEachPixel(pixels, [&](int64_t, int part, const Int32Vector& words) NNEFC_SIMD_INLINE {
      of_values[part] += words;
      of_squares[part] += words * words;
    });
    for (int64_t i = 0; i < kBlockColumns; ++i) {
      values[i] += of_values[i / kSimdWidth][i % kSimdWidth];
      squares[i] += of_squares[i / kSimdWidth][i % kSimdWidth];
    }
  });
}

void NormalizeCodes(const NormalizedCodes& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const NormalizedCodes call = given;  // local copy, to exclude aliasing
    FloatVector mean[kVectorsPerBlock], factor[kVectorsPerBlock];
#pragma GCC unroll 2
    for (int64_t part = 0; part < kVectorsPerBlock; ++part) {
      mean[part] = *reinterpret_cast<const UnalignedFloatVector*>(call.mean + part * kSimdWidth);
      factor[part] = *reinterpret_cast<const UnalignedFloatVector*>(call.factor + part * kSimdWidth);
    }
    ForEachPixel(call.pixels, [&](int64_t pixel, int part, const Int32Vector& words) NNEFC_SIMD_INLINE {
      const FloatVector x = __builtin_convertvector(words, FloatVector);
      *reinterpret_cast<UnalignedFloatVector*>(call.out + pixel * kBlockColumns + part * kSimdWidth) =
          (x - mean[part]) * factor[part];
    });
  });
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

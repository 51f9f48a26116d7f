// Requantization of accumulators in registers, for files compiled per vector width (simd/dispatch.h).
#pragma once

#include <algorithm>
#include <cstring>

#include "runtime/fast/simd/int8/dot2.h"
#include "runtime/fast/simd/int8/dot2_microkernel.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

// Conversions between 8-bit values and numbers, rounded with ties to even.
NNEFC_SIMD_INLINE inline void LoadUint8(const uint8_t* from, Int32Vector& words) {
#if defined(NNEFC_X86_AVX512)
  words = reinterpret_cast<Int32Vector>(
      _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
#elif defined(NNEFC_X86_AVX2)
  words = reinterpret_cast<Int32Vector>(
      _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
#else
  for (int64_t i = 0; i < kSimdWidth; ++i) words[i] = from[i];
#endif
}
#if defined(NNEFC_X86_AVX2)

// Loads a pixel's channels, and zeros for the rest of the block.
NNEFC_SIMD_INLINE inline __m128i LoadPixel(const uint8_t* from, int64_t channels) {
  if (channels == kBlockColumns) return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  constexpr int64_t kHalf = kBlockColumns / 2;
  if (channels >= kHalf) {
    // The last eight channels, and the shift that moves those of the first half out.
    const __m128i shift = _mm_cvtsi64_si128(8 * (kBlockColumns - channels));
    const __m128i last = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from + channels - kHalf));
    return _mm_unpacklo_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)),
                              _mm_srl_epi64(last, shift));
  }
  uint8_t pixel[kBlockColumns] = {};
  std::memcpy(pixel, from, static_cast<size_t>(channels));
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(pixel));
}

#endif

// Loads a vector of a pixel's channels: the first or the second part of a block. Others than `channels` are
// 0.
template <bool kIsWhole>
NNEFC_SIMD_INLINE inline void LoadChannels(const uint8_t* from, int64_t channels, int part,
                                           Int32Vector& words) {
#if defined(NNEFC_X86_AVX512)
  if constexpr (!kIsWhole) {
    const auto taken = static_cast<__mmask16>((1U << channels) - 1);
    words = reinterpret_cast<Int32Vector>(_mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(taken, from)));
    return;
  }
#elif defined(NNEFC_X86_AVX2)
  if constexpr (!kIsWhole) {
    const __m128i pixel = LoadPixel(from, channels);
    words = reinterpret_cast<Int32Vector>(
        _mm256_cvtepu8_epi32(part == 0 ? pixel : _mm_unpackhi_epi64(pixel, pixel)));
    return;
  }
#else
  if constexpr (!kIsWhole) {
    for (int64_t i = 0; i < kSimdWidth; ++i) {
      const int64_t channel = part * kSimdWidth + i;
      words[i] = channel < channels ? from[channel] : 0;
    }
    return;
  }
#endif
  LoadUint8(from + part * kSimdWidth, words);
}

// Rounds to integers with ties to even. NaN and magnitudes above 2^31 become the least integer or 0.
NNEFC_SIMD_INLINE inline void RoundToWords(const FloatVector& x, Int32Vector& words) {
#if defined(NNEFC_X86_AVX512)
  words = reinterpret_cast<Int32Vector>(_mm512_cvtps_epi32(x));
#elif defined(NNEFC_X86_AVX2)
  words = reinterpret_cast<Int32Vector>(_mm256_cvtps_epi32(x));
#else
  for (int64_t i = 0; i < kSimdWidth; ++i)
    words[i] = __builtin_fabsf(x[i]) < 0x1p31F ? static_cast<int32_t>(__builtin_nearbyintf(x[i])) : 0;
#endif
}
// Stores a block of integers, saturated within 0 to 255.
NNEFC_SIMD_INLINE inline void StoreSaturated(const Int32Vector* words, uint8_t* to) {
#if defined(NNEFC_X86_AVX512)
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                   _mm512_cvtusepi32_epi8(_mm512_max_epi32(reinterpret_cast<__m512i>(words[0]), __m512i{})));
#elif defined(NNEFC_X86_AVX2)
  // Elements 0 to 3 and 8 to 11, then the others.
  const __m256i mixed =
      _mm256_packs_epi32(reinterpret_cast<__m256i>(words[0]), reinterpret_cast<__m256i>(words[1]));
  constexpr int kInOrder = 0b11011000;
  const __m256i halves = _mm256_permute4x64_epi64(mixed, kInOrder);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                   _mm_packus_epi16(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1)));
#else
  for (int64_t i = 0; i < kBlockColumns; ++i)
    to[i] = static_cast<uint8_t>(std::clamp(words[i / kSimdWidth][i % kSimdWidth], 0, 255));
#endif
}
// Stores a block of values of at most 255, rounded with ties to even; negative values and NaN become 0.
NNEFC_SIMD_INLINE inline void StoreUint8(const FloatVector (&codes)[kVectorsPerBlock], uint8_t* to) {
  Int32Vector words[kVectorsPerBlock];
#pragma GCC unroll 2
  for (int64_t part = 0; part < kVectorsPerBlock; ++part) RoundToWords(codes[part], words[part]);
  StoreSaturated(words, to);
}

// Copies the first `count` values of a block, without reading or writing others.
NNEFC_SIMD_INLINE inline void CopyFirstUint8(const uint8_t* from, int64_t count, uint8_t* to) {
#if defined(NNEFC_X86_AVX512)
  const auto taken = static_cast<__mmask16>((1U << count) - 1);
  _mm_mask_storeu_epi8(to, taken, _mm_maskz_loadu_epi8(taken, from));
#else
  std::copy_n(from, count, to);
#endif
}

// Copies the first `count` values to a block, whose other values become 0.
NNEFC_SIMD_INLINE inline void LoadFirstUint8(const uint8_t* from, int64_t count, uint8_t* block) {
#if defined(NNEFC_X86_AVX512)
  const auto taken = static_cast<__mmask16>((1U << count) - 1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(block), _mm_maskz_loadu_epi8(taken, from));
#else
  std::fill_n(std::copy_n(from, count, block), kBlockColumns - count, uint8_t{0});
#endif
}

// Requantization parameters in registers, constant for all pixels (see RequantizedResults).
struct Requantizer {
  FloatVector scales[kVectorsPerBlock], bias[kVectorsPerBlock];
  FloatVector low, high, factor, offset, other_factor;
  int other_zero;

  NNEFC_SIMD_INLINE void Make(const RequantizedResults& call) {
    for (int64_t part = 0; part < kVectorsPerBlock; ++part) {
      scales[part] = *reinterpret_cast<const UnalignedFloatVector*>(call.scales + part * kSimdWidth);
      bias[part] = *reinterpret_cast<const UnalignedFloatVector*>(call.bias + part * kSimdWidth);
    }
    low = FloatVector{} + call.low;
    high = FloatVector{} + call.high;
    factor = FloatVector{} + call.factor;
    offset = FloatVector{} + call.offset;
    other_factor = FloatVector{} + call.other_factor;
    other_zero = call.other_zero;
  }

  // Packing also clamps values to 8 bits.
  template <bool kHasOthers, bool kIsLimited>
  NNEFC_SIMD_INLINE void Store(const int32_t* sums, uint8_t* codes) const {
    FloatVector numbers[kVectorsPerBlock];
#pragma GCC unroll 2
    for (int64_t part = 0; part < kVectorsPerBlock; ++part)
      numbers[part] = __builtin_convertvector(
          *reinterpret_cast<const UnalignedInt32Vector*>(sums + part * kSimdWidth), FloatVector);
    Store<kHasOthers, kIsLimited>(numbers, codes);
  }
  template <bool kHasOthers, bool kIsLimited>
  NNEFC_SIMD_INLINE void Store(const FloatVector (&sums)[kVectorsPerBlock], uint8_t* codes) const {
    FloatVector made[kVectorsPerBlock];
#pragma GCC unroll 2
    for (int64_t part = 0; part < kVectorsPerBlock; ++part) {
      FloatVector x = (sums[part] + bias[part]) * scales[part];
      if constexpr (kIsLimited) {
        Max(x, low);
        Min(x, high);
      }
      if constexpr (kHasOthers) {
        RoundToEven(x);
        Int32Vector others;
        LoadUint8(codes + part * kSimdWidth, others);
        const FloatVector other = __builtin_convertvector(others - other_zero, FloatVector);
        x = x * factor + offset;
        x += other * other_factor;
        Max(x, FloatVector{});
        Min(x, FloatVector{} + 255.0F);
      }
      made[part] = x;
    }
    StoreUint8(made, codes);
  }
};

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

// Products of 16-bit integers, added in pairs to 32 bits (madd), for files compiled per vector width
// (simd/dispatch.h).
#pragma once

#include <cstring>

#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

// Vectors of i32, unaligned i32, u32 modulo 2^32, and pairs of i16.
using Int32Vector = int32_t __attribute__((vector_size(4 * NNEFC_SIMD_WIDTH)));
using UnalignedInt32Vector =
    int32_t __attribute__((vector_size(4 * NNEFC_SIMD_WIDTH), aligned(4), may_alias));
using Uint32Vector = uint32_t __attribute__((vector_size(4 * NNEFC_SIMD_WIDTH)));
using Int16Vector = int16_t __attribute__((vector_size(4 * NNEFC_SIMD_WIDTH)));
using UnalignedInt16Vector =
    int16_t __attribute__((vector_size(4 * NNEFC_SIMD_WIDTH), aligned(2), may_alias));

// Loads pairs for kSimdWidth outputs from i8 or i16 weights.
NNEFC_SIMD_INLINE inline void LoadWeights(const int8_t* from, Int16Vector& factors) {
#if defined(NNEFC_X86_AVX512)
  factors = reinterpret_cast<Int16Vector>(
      _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
#elif defined(NNEFC_X86_AVX2)
  factors = reinterpret_cast<Int16Vector>(
      _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
#else
  for (int64_t i = 0; i < 2 * kSimdWidth; ++i) factors[i] = from[i];
#endif
}

NNEFC_SIMD_INLINE inline void LoadWeights(const int16_t* from, Int16Vector& factors) {
  factors = *reinterpret_cast<const UnalignedInt16Vector*>(from);
}

// Broadcasts a pair.
NNEFC_SIMD_INLINE inline void BroadcastPair(const int16_t* from, Int16Vector& pairs) {
  int32_t both;
  std::memcpy(&both, from, sizeof(both));
  pairs = reinterpret_cast<Int16Vector>(Int32Vector{} + both);
}

// sums += the sum of the products of each pair
NNEFC_SIMD_INLINE inline void AddDot2(Uint32Vector& sums, const Int16Vector& a, const Int16Vector& b) {
#if defined(NNEFC_X86_AVX512)
  sums += reinterpret_cast<Uint32Vector>(
      _mm512_madd_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(NNEFC_X86_AVX2)
  // Compilers would combine several products before the addition and run out of registers.
  const __m256i products = _mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b));
  asm("vpaddd %1, %0, %0" : "+x"(sums) : "x"(products));
#else
  for (int64_t i = 0; i < kSimdWidth; ++i)
    sums[i] += static_cast<uint32_t>(int32_t{a[2 * i]} * b[2 * i]) +
               static_cast<uint32_t>(int32_t{a[2 * i + 1]} * b[2 * i + 1]);
#endif
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

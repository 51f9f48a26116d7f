// Products of 16-bit integers, added in pairs to 32 bits (madd), for files compiled per vector width
// (lanes.h).
#pragma once

#include <cstring>

#include "runtime/fast/lanes/lane_math.h"

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

// Vectors of i32, unaligned i32, u32 modulo 2^32, and pairs of i16.
using LaneWords = int32_t __attribute__((vector_size(4 * NNEFC_LANES)));
using LaneWordsAt = int32_t __attribute__((vector_size(4 * NNEFC_LANES), aligned(4), may_alias));
using LaneResidues = uint32_t __attribute__((vector_size(4 * NNEFC_LANES)));
using LaneHalves = int16_t __attribute__((vector_size(4 * NNEFC_LANES)));
using LaneHalvesAt = int16_t __attribute__((vector_size(4 * NNEFC_LANES), aligned(2), may_alias));

// Loads pairs for kLanes outputs from i8 or i16 weights.
NNEFC_IN_LANES inline void LoadFactors(const int8_t* from, LaneHalves& factors) {
#if defined(NNEFC_WIDE_X86)
  factors = reinterpret_cast<LaneHalves>(
      _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
#elif defined(NNEFC_NARROW_X86)
  factors = reinterpret_cast<LaneHalves>(
      _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
#else
  for (int64_t i = 0; i < 2 * kLanes; ++i) factors[i] = from[i];
#endif
}

NNEFC_IN_LANES inline void LoadFactors(const int16_t* from, LaneHalves& factors) {
  factors = *reinterpret_cast<const LaneHalvesAt*>(from);
}

// Broadcasts a pair.
NNEFC_IN_LANES inline void SpreadPair(const int16_t* from, LaneHalves& pairs) {
  int32_t both;
  std::memcpy(&both, from, sizeof(both));
  pairs = reinterpret_cast<LaneHalves>(LaneWords{} + both);
}

// sums += the sum of the products of each pair
NNEFC_IN_LANES inline void AddPairs(LaneResidues& sums, const LaneHalves& a, const LaneHalves& b) {
#if defined(NNEFC_WIDE_X86)
  sums += reinterpret_cast<LaneResidues>(
      _mm512_madd_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(NNEFC_NARROW_X86)
  // Compilers would combine several products before the addition and run out of registers.
  const __m256i products = _mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b));
  asm("vpaddd %1, %0, %0" : "+x"(sums) : "x"(products));
#else
  for (int64_t i = 0; i < kLanes; ++i)
    sums[i] += static_cast<uint32_t>(int32_t{a[2 * i]} * b[2 * i]) +
               static_cast<uint32_t>(int32_t{a[2 * i + 1]} * b[2 * i + 1]);
#endif
}

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE

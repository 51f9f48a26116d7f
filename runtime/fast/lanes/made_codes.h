// Requantization of accumulators in registers, for files compiled per vector width (lanes.h).
#pragma once

#include <algorithm>

#include "runtime/fast/lanes/code_tile.h"
#include "runtime/fast/lanes/pair_products.h"

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

// Conversions between 8-bit values and numbers, rounded with ties to even.
NNEFC_IN_LANES inline void LoadCodes(const uint8_t* from, LaneWords& words) {
#if defined(NNEFC_WIDE_X86)
  words = reinterpret_cast<LaneWords>(
      _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
#elif defined(NNEFC_NARROW_X86)
  words = reinterpret_cast<LaneWords>(
      _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
#else
  for (int64_t i = 0; i < kLanes; ++i) words[i] = from[i];
#endif
}
// Stores a block of values within 0 to 255.
NNEFC_IN_LANES inline void StoreCodes(const LaneFloats (&codes)[kLanesOfBlock], uint8_t* to) {
#if defined(NNEFC_WIDE_X86)
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                   _mm512_cvtusepi32_epi8(_mm512_max_epi32(_mm512_cvtps_epi32(codes[0]), __m512i{})));
#elif defined(NNEFC_NARROW_X86)
  // Elements 0 to 3 and 8 to 11, then the others.
  const __m256i mixed = _mm256_packs_epi32(_mm256_cvtps_epi32(codes[0]), _mm256_cvtps_epi32(codes[1]));
  constexpr int kInOrder = 0b11011000;
  const __m256i halves = _mm256_permute4x64_epi64(mixed, kInOrder);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                   _mm_packus_epi16(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1)));
#else
  for (int64_t i = 0; i < kBlockColumns; ++i)
    to[i] =
        static_cast<uint8_t>(std::clamp(__builtin_nearbyintf(codes[i / kLanes][i % kLanes]), 0.0F, 255.0F));
#endif
}

// Requantization parameters in registers, constant for all pixels (see CodeResults).
struct CodeMaker {
  LaneFloats scales[kLanesOfBlock], bias[kLanesOfBlock];
  LaneFloats low, high, factor, offset, other_factor;
  int other_zero;

  NNEFC_IN_LANES void Make(const CodeResults& call) {
    for (int64_t part = 0; part < kLanesOfBlock; ++part) {
      scales[part] = *reinterpret_cast<const Lanes*>(call.scales + part * kLanes);
      bias[part] = *reinterpret_cast<const Lanes*>(call.bias + part * kLanes);
    }
    low = LaneFloats{} + call.low;
    high = LaneFloats{} + call.high;
    factor = LaneFloats{} + call.factor;
    offset = LaneFloats{} + call.offset;
    other_factor = LaneFloats{} + call.other_factor;
    other_zero = call.other_zero;
  }

  // Packing also clamps values to 8 bits.
  template <bool kHasOthers, bool kIsLimited>
  NNEFC_IN_LANES void Store(const int32_t* sums, uint8_t* codes) const {
    LaneFloats numbers[kLanesOfBlock];
#pragma GCC unroll 2
    for (int64_t part = 0; part < kLanesOfBlock; ++part)
      numbers[part] =
          __builtin_convertvector(*reinterpret_cast<const LaneWordsAt*>(sums + part * kLanes), LaneFloats);
    Store<kHasOthers, kIsLimited>(numbers, codes);
  }
  template <bool kHasOthers, bool kIsLimited>
  NNEFC_IN_LANES void Store(const LaneFloats (&sums)[kLanesOfBlock], uint8_t* codes) const {
    LaneFloats made[kLanesOfBlock];
#pragma GCC unroll 2
    for (int64_t part = 0; part < kLanesOfBlock; ++part) {
      LaneFloats x = (sums[part] + bias[part]) * scales[part];
      if constexpr (kIsLimited) {
        LimitFromBelow(x, low);
        LimitFromAbove(x, high);
      }
      if constexpr (kHasOthers) {
        RoundLanes(x);
        LaneWords others;
        LoadCodes(codes + part * kLanes, others);
        const LaneFloats other = __builtin_convertvector(others - other_zero, LaneFloats);
        x = x * factor + offset;
        x += other * other_factor;
        LimitFromBelow(x, LaneFloats{});
        LimitFromAbove(x, LaneFloats{} + 255.0F);
      }
      made[part] = x;
    }
    StoreCodes(made, codes);
  }
};

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE

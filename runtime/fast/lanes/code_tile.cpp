#include "runtime/fast/lanes/code_tile.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "runtime/fast/lanes/lane_math.h"

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

namespace {

// Numbers of 32 bits, of which a register has kLanes, and pairs of 16.
using LaneWords = int32_t __attribute__((vector_size(4 * NNEFC_LANES)));
using LaneWordsAt = int32_t __attribute__((vector_size(4 * NNEFC_LANES), aligned(4), may_alias));
using LaneResidues = uint32_t __attribute__((vector_size(4 * NNEFC_LANES)));
using LaneHalves = int16_t __attribute__((vector_size(4 * NNEFC_LANES)));

// Codes of pairs of kLanes outputs.
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
  using At = int16_t __attribute__((vector_size(4 * NNEFC_LANES), aligned(2), may_alias));
  factors = *reinterpret_cast<const At*>(from);
}

// Codes of kLanes numbers, and back: rounded to the even one of two that are as near.
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
NNEFC_IN_LANES inline void StoreCodes(const LaneFloats& codes, uint8_t* to) {
#if defined(NNEFC_WIDE_X86)
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(codes)));
#elif defined(NNEFC_NARROW_X86)
  const __m256i words = _mm256_cvtps_epi32(codes);
  const __m128i halves = _mm_packus_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(halves, halves));
#else
  for (int64_t i = 0; i < kLanes; ++i) to[i] = static_cast<uint8_t>(__builtin_nearbyintf(codes[i]));
#endif
}

// sums += the sum of the products of each pair
NNEFC_IN_LANES inline void AddPairs(LaneResidues& sums, const LaneHalves& a, const LaneHalves& b) {
#if defined(NNEFC_WIDE_X86)
  sums += reinterpret_cast<LaneResidues>(
      _mm512_madd_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(NNEFC_NARROW_X86)
  sums += reinterpret_cast<LaneResidues>(
      _mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#else
  for (int64_t i = 0; i < kLanes; ++i)
    sums[i] += static_cast<uint32_t>(int32_t{a[2 * i]} * b[2 * i]) +
               static_cast<uint32_t>(int32_t{a[2 * i + 1]} * b[2 * i + 1]);
#endif
}

template <int kPixels, typename Weight>
NNEFC_IN_LANES inline void SumTileOf(const SumTile<Weight>& call) {
  constexpr int kParts = static_cast<int>(kLanesOfBlock);
  LaneResidues sums[kPixels][kParts] = {};
  const Weight* weights = call.weights;
  for (int64_t strip = 0; strip < call.strip_count; ++strip) {
    const int16_t* from[kPixels];
#pragma GCC unroll 16
    for (int i = 0; i < kPixels; ++i) from[i] = call.numbers + call.seen[i] + call.strips[strip];
    for (int64_t pair = 0; pair < call.pairs; ++pair, weights += 2 * kBlockColumns) {
      LaneHalves factors[kParts];
#pragma GCC unroll 2
      for (int p = 0; p < kParts; ++p) LoadFactors(weights + 2 * kLanes * p, factors[p]);
#pragma GCC unroll 16
      for (int i = 0; i < kPixels; ++i) {
        int32_t both;
        std::memcpy(&both, from[i] + 2 * pair, sizeof(both));
        const auto x = reinterpret_cast<LaneHalves>(LaneWords{} + both);
#pragma GCC unroll 2
        for (int p = 0; p < kParts; ++p) AddPairs(sums[i][p], x, factors[p]);
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 2
    for (int p = 0; p < kParts; ++p)
      *reinterpret_cast<LaneWordsAt*>(call.sums + i * kBlockColumns + p * kLanes) =
          reinterpret_cast<LaneWords>(sums[i][p]);
  }
}

template <int kPixels, typename Weight>
void CallSumTile(const SumTile<Weight>& given) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const SumTile<Weight> call = given;  // which what is written cannot change
    SumTileOf<kPixels>(call);
  });
}

// By pixels.
template <typename Weight>
constexpr auto kSumTiles = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<void (*)(const SumTile<Weight>&), kTileRows>{
      CallSumTile<static_cast<int>(kIndex) + 1, Weight>...};
}(std::make_index_sequence<kTileRows>());
static_assert(kTileRows <= kMostCodePixels);

// Sixteen numbers of 16 bits and eight of 32, whatever registers there are.
using Halves16 = int16_t __attribute__((vector_size(32)));
using Halves16At = int16_t __attribute__((vector_size(32), aligned(2), may_alias));
using Words8 = int32_t __attribute__((vector_size(32)));
using Words8At = int32_t __attribute__((vector_size(32), aligned(4), may_alias));

// Pairs of numbers of a and b: those of the first four lanes of each eight, and of the others.
NNEFC_IN_LANES inline void Interleave(const Halves16& a, const Halves16& b, Halves16& first,
                                      Halves16& second) {
  using Order = int16_t __attribute__((vector_size(32)));
  first = __builtin_shuffle(a, b, Order{0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27});
  second = __builtin_shuffle(a, b, Order{4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31});
}

NNEFC_IN_LANES inline void AddEightPairs(Words8& sums, const Halves16& a, const Halves16& b) {
#if defined(__x86_64__)
  sums +=
      reinterpret_cast<Words8>(_mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#else
  for (int64_t i = 0; i < 8; ++i)
    sums[i] += int32_t{a[2 * i]} * b[2 * i] + int32_t{a[2 * i + 1]} * b[2 * i + 1];
#endif
}

NNEFC_IN_LANES inline void DepthwisePixel(const DepthwiseCodes& call, const int16_t* pixel, int32_t* out) {
  Words8 first = {}, second = {};
  const int16_t* weights = call.weights;
  for (int64_t pair = 0; pair < call.tap_pairs; ++pair, weights += 2 * kBlockColumns) {
    const Halves16 a = *reinterpret_cast<const Halves16At*>(pixel + call.taps[2 * pair]);
    const Halves16 b = *reinterpret_cast<const Halves16At*>(pixel + call.taps[2 * pair + 1]);
    Halves16 low, high;
    Interleave(a, b, low, high);
    AddEightPairs(first, low, *reinterpret_cast<const Halves16At*>(weights));
    AddEightPairs(second, high, *reinterpret_cast<const Halves16At*>(weights + kBlockColumns));
  }
  // Lanes are of channels 0 to 3 and 8 to 11, and of the others.
  *reinterpret_cast<Words8At*>(out) = __builtin_shuffle(first, second, Words8{0, 1, 2, 3, 8, 9, 10, 11});
  *reinterpret_cast<Words8At*>(out + 8) =
      __builtin_shuffle(first, second, Words8{4, 5, 6, 7, 12, 13, 14, 15});
}

// Of sums of some pixels, codes: see CodeResults. What does not change from one pixel to the next.
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

  template <bool kHasOthers>
  NNEFC_IN_LANES void Store(const int32_t* sums, uint8_t* codes) const {
#pragma GCC unroll 2
    for (int64_t part = 0; part < kLanesOfBlock; ++part) {
      const LaneWords given = *reinterpret_cast<const LaneWordsAt*>(sums + part * kLanes);
      LaneFloats x = (__builtin_convertvector(given, LaneFloats) + bias[part]) * scales[part];
      LimitFromBelow(x, low);
      LimitFromAbove(x, high);
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
      StoreCodes(x, codes + part * kLanes);
    }
  }
};

template <bool kHasOthers>
NNEFC_IN_LANES inline void StoreCodesOf(const CodeResults& call) {
  CodeMaker maker;
  maker.Make(call);
  for (int64_t pixel = 0; pixel < call.pixels; ++pixel) {
    const int32_t* sums = call.sums + pixel * kBlockColumns;
    uint8_t* out = call.out + pixel * call.stride;
    if (call.channels == kBlockColumns) {
      maker.Store<kHasOthers>(sums, out);
    } else {
      uint8_t codes[kBlockColumns] = {};
      if (kHasOthers) std::copy_n(out, call.channels, codes);
      maker.Store<kHasOthers>(sums, codes);
      std::copy_n(codes, call.channels, out);
    }
  }
}

}  // namespace

void WidenCodes(const CodesAsNumbers& given) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const CodesAsNumbers call = given;  // which what is written cannot change
    for (int64_t i = 0; i < call.count; ++i)
      call.out[i] = static_cast<int16_t>(int{call.codes[i]} - call.zero);
  });
}

void RunCodeTile(int64_t pixels, const CodeTile& tile) {
  kSumTiles<int8_t>[static_cast<size_t>(pixels - 1)](tile);
}

void RunNumberTile(int64_t pixels, const NumberTile& tile) {
  kSumTiles<int16_t>[static_cast<size_t>(pixels - 1)](tile);
}

void RunDepthwiseCodes(const DepthwiseCodes& given) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const DepthwiseCodes call = given;  // which what is written cannot change
    for (int64_t i = 0; i < call.count; ++i)
      DepthwisePixel(call, call.numbers + call.seen[i], call.sums + i * kBlockColumns);
  });
}

void InterleaveTaps(const int8_t* first, const int8_t* second, int16_t* out) {
  RunInLanes([&]() NNEFC_IN_LANES {
    Halves16 a = {}, b = {}, low, high;
    for (int64_t i = 0; i < kBlockColumns; ++i) {
      a[i] = first[i];
      b[i] = second == nullptr ? int16_t{0} : int16_t{second[i]};
    }
    Interleave(a, b, low, high);
    *reinterpret_cast<Halves16At*>(out) = low;
    *reinterpret_cast<Halves16At*>(out + kBlockColumns) = high;
  });
}

void StoreCodeResults(const CodeResults& given) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const CodeResults call = given;  // which what is written cannot change
    call.has_others ? StoreCodesOf<true>(call) : StoreCodesOf<false>(call);
  });
}

void StoreNumberResults(const NumberResults& given) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const NumberResults call = given;  // which what is written cannot change
    WithLimits(call.limits, [&](const auto& limit) NNEFC_IN_LANES {
      for (int64_t pixel = 0; pixel < call.pixels; ++pixel) {
        for (int64_t lane = 0; lane < kBlockColumns; lane += kLanes) {
          const int64_t at = pixel * call.stride + lane;
          const LaneWords sums =
              *reinterpret_cast<const LaneWordsAt*>(call.sums + pixel * kBlockColumns + lane);
          LaneFloats x =
              __builtin_convertvector(sums, LaneFloats) * *reinterpret_cast<const Lanes*>(call.scales + lane);
          if (call.bias != nullptr) x += *reinterpret_cast<const Lanes*>(call.bias + lane);
          if (call.start != nullptr) x += *reinterpret_cast<const Lanes*>(call.start + at);
          limit(x);
          *reinterpret_cast<Lanes*>(call.out + at) = x;
        }
      }
    });
  });
}

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE

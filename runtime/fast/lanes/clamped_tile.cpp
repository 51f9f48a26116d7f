#include "runtime/fast/lanes/clamped_tile.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "runtime/fast/lanes/quad_products.h"

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

namespace {

constexpr int kParts = static_cast<int>(kLanesOfBlock);

// dot4 by maddubs; valid if no sum of two products exceeds 16 bits
NNEFC_IN_LANES inline void MultiplyQuads(const LaneBytes& codes, const int8_t* weights, LaneResidues& sums) {
#if defined(NNEFC_WIDE_X86)
  const __m512i pairs = _mm512_maddubs_epi16(reinterpret_cast<__m512i>(codes), _mm512_loadu_si512(weights));
  sums = reinterpret_cast<LaneResidues>(_mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
#elif defined(NNEFC_NARROW_X86)
  const __m256i pairs = _mm256_maddubs_epi16(reinterpret_cast<__m256i>(codes),
                                             _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights)));
  sums = reinterpret_cast<LaneResidues>(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
#else
  MultiplyQuadsInTurn(codes, weights, sums);
#endif
}

// Accumulates dot4 of a pixel's four quantized values and kBlockColumns outputs.
#if defined(NNEFC_NARROW_X86)
NNEFC_IN_LANES inline void AddQuad(LaneResidues (&sums)[kParts], const uint8_t* codes,
                                   const LaneBytes& first_weights, const int8_t* weights,
                                   const LaneHalves& ones) {
  // All registers are in use: compilers would load the second weights into one and spill sums.
  LaneBytes x, pairs;
  asm("vpbroadcastd %[codes], %[x]\n\t"
      "vpmaddubsw %[w0], %[x], %[pairs]\n\t"
      "vpmaddubsw %[w1], %[x], %[x]\n\t"
      "vpmaddwd %[ones], %[pairs], %[pairs]\n\t"
      "vpmaddwd %[ones], %[x], %[x]\n\t"
      "vpaddd %[pairs], %[sum0], %[sum0]\n\t"
      "vpaddd %[x], %[sum1], %[sum1]"
      : [sum0] "+x"(sums[0]), [sum1] "+x"(sums[1]), [x] "=&x"(x), [pairs] "=&x"(pairs)
      : [codes] "m"(*reinterpret_cast<const int32_t*>(codes)), [w0] "x"(first_weights),
        [w1] "m"(*reinterpret_cast<const LaneBytesAt*>(weights + kRegisterWeights)), [ones] "x"(ones));
}
#else
NNEFC_IN_LANES inline void AddQuad(LaneResidues (&sums)[kParts], const uint8_t* codes, const LaneBytes&,
                                   const int8_t* weights, const LaneHalves&) {
  LaneBytes x;
  SpreadQuad(codes, x);
  for (int p = 0; p < kParts; ++p) {
    LaneResidues products;
    MultiplyQuads(x, weights + p * kRegisterWeights, products);
    sums[p] += products;
  }
}
#endif

// Stores one pixel.
NNEFC_IN_LANES inline void StorePixel(const LaneResidues (&sums)[kParts], int32_t* to) {
#pragma GCC unroll 2
  for (int p = 0; p < kParts; ++p) StoreSums(sums[p], to + p * kLanes);
}

template <int kPixels>
NNEFC_IN_LANES inline void ClampedTileOf(const QuadTile<uint8_t>& call, const int32_t* start) {
  constexpr int64_t kQuadsTogether = 2;
  LaneResidues sums[kPixels][kParts];
#pragma GCC unroll 16
  for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 2
    for (int p = 0; p < kParts; ++p) LoadSums(start + p * kLanes, sums[i][p]);
  }
  const LaneHalves ones = LaneHalves{} + int16_t{1};
  const int8_t* weights = call.weights;
  for (int64_t strip = 0; strip < call.strip_count; ++strip) {
    const uint8_t* from[kPixels];
#pragma GCC unroll 16
    for (int i = 0; i < kPixels; ++i) from[i] = call.numbers + call.seen[i] + call.strips[strip];
    const auto add_quad = [&](int64_t quad) NNEFC_IN_LANES {
      const int8_t* own = weights + kQuadWeights * quad;
      const LaneBytes first = *reinterpret_cast<const LaneBytesAt*>(own);
#pragma GCC unroll 16
      for (int i = 0; i < kPixels; ++i) AddQuad(sums[i], from[i] + kQuad * quad, first, own, ones);
    };
    int64_t quad = 0;
    for (; quad + kQuadsTogether <= call.quads; quad += kQuadsTogether) {
#pragma GCC unroll 2
      for (int64_t i = 0; i < kQuadsTogether; ++i) add_quad(quad + i);
    }
    for (; quad < call.quads; ++quad) add_quad(quad);
    weights += kQuadWeights * call.quads;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kPixels; ++i) StorePixel(sums[i], call.sums + i * kBlockColumns);
}

template <int kPixels>
void CallClampedTile(const QuadTile<uint8_t>& given, const int32_t* start) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const QuadTile<uint8_t> call = given;  // local copy, to exclude aliasing
    ClampedTileOf<kPixels>(call, start);
  });
}

// One instance per pixel count.
constexpr auto kClampedTiles = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<void (*)(const QuadTile<uint8_t>&, const int32_t*), kTileRows>{
      CallClampedTile<static_cast<int>(kIndex) + 1>...};
}(std::make_index_sequence<kTileRows>());

// Returns the sums of adjacent lane pairs from two registers.
NNEFC_IN_LANES inline void AddNeighbours(const LaneResidues& first, const LaneResidues& second,
                                         LaneResidues& sums) {
#if defined(NNEFC_NARROW_X86)
  constexpr int kInOrder = 0b11011000;
  sums = reinterpret_cast<LaneResidues>(_mm256_permute4x64_epi64(
      _mm256_hadd_epi32(reinterpret_cast<__m256i>(first), reinterpret_cast<__m256i>(second)), kInOrder));
#else
  constexpr int kHalf = static_cast<int>(kLanes) / 2;
#pragma GCC unroll 16
  for (int i = 0; i < kHalf; ++i) {
    sums[i] = first[2 * i] + first[2 * i + 1];
    sums[kHalf + i] = second[2 * i] + second[2 * i + 1];
  }
#endif
}

// Dot4 with weights widened to 16 bits: a register holds half as many outputs as it has lanes.
template <int kPixels>
NNEFC_IN_LANES inline void QuadTileOf(const QuadTile<int16_t>& call, int64_t pixel) {
  constexpr int kHalves = 2 * kParts;
  LaneResidues sums[kPixels][kHalves] = {};
  const int8_t* weights = call.weights;
  for (int64_t strip = 0; strip < call.strip_count; ++strip) {
    for (int64_t quad = 0; quad < call.quads; ++quad, weights += kQuadWeights) {
      LaneHalves factors[kHalves];
#pragma GCC unroll 4
      for (int p = 0; p < kHalves; ++p) LoadFactors(weights + 2 * kLanes * p, factors[p]);
#pragma GCC unroll 4
      for (int i = 0; i < kPixels; ++i) {
        int64_t four;
        std::memcpy(&four, call.numbers + call.seen[pixel + i] + call.strips[strip] + kQuad * quad,
                    sizeof(four));
        using LaneLongs = int64_t __attribute__((vector_size(4 * NNEFC_LANES)));
        const auto x = reinterpret_cast<LaneHalves>(LaneLongs{} + four);
#pragma GCC unroll 4
        for (int p = 0; p < kHalves; ++p) AddPairs(sums[i][p], x, factors[p]);
      }
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kPixels; ++i) {
    LaneResidues own[kParts];
#pragma GCC unroll 2
    for (int p = 0; p < kParts; ++p) AddNeighbours(sums[i][2 * p], sums[i][2 * p + 1], own[p]);
    StorePixel(own, call.sums + (pixel + i) * kBlockColumns);
  }
}

template <int kBlocks, bool kIsAbove>
NNEFC_IN_LANES inline void AddTerms(const RestProducts& call) {
  for (int64_t i = 0; i < call.count; ++i) {
    const RestTerm& term = call.terms[i];
    const int8_t* weights = call.weights + term.weights;
    int32_t* to = call.sums + (term.pixel - call.first_pixel) * kBlockColumns;
    LaneBytes x;
    SpreadQuad(&term.bytes, x);
#pragma GCC unroll 8
    for (int part = 0; part < kBlocks * kParts; ++part) {
      LaneResidues products;
      MultiplyQuads(x, weights + part / kParts * call.block_stride + part % kParts * kRegisterWeights,
                    products);
      int32_t* const sums = to + part / kParts * call.sums_stride + part % kParts * kLanes;
      LaneResidues own;
      LoadSums(sums, own);
      StoreSums(kIsAbove ? own + products : own - products, sums);
    }
  }
}

template <int kBlocks>
void CallAddRests(const RestProducts& given) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const RestProducts call = given;  // local copy, to exclude aliasing
    call.is_above ? AddTerms<kBlocks, true>(call) : AddTerms<kBlocks, false>(call);
  });
}

// One instance per block count.
constexpr auto kAddRests = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<void (*)(const RestProducts&), kMostRestBlocks>{
      CallAddRests<static_cast<int>(kIndex) + 1>...};
}(std::make_index_sequence<kMostRestBlocks>());

// x - y, saturated at 0
NNEFC_IN_LANES inline void SubtractToZero(LaneBytes& x, const LaneBytes& y) {
#if defined(NNEFC_NARROW_X86)
  x = reinterpret_cast<LaneBytes>(
      _mm256_subs_epu8(reinterpret_cast<__m256i>(x), reinterpret_cast<__m256i>(y)));
#elif defined(NNEFC_WIDE_X86)
  x = reinterpret_cast<LaneBytes>(
      _mm512_subs_epu8(reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(y)));
#else
  for (int64_t i = 0; i < 4 * kLanes; ++i) x[i] = static_cast<uint8_t>(x[i] > y[i] ? x[i] - y[i] : 0);
#endif
}

// Returns the excess of each sum of two values over kMostOfTwo, saturated at 0.
NNEFC_IN_LANES inline void BeyondOfTwo(const LaneBytes& codes, LaneHalves& beyond) {
#if defined(NNEFC_NARROW_X86)
  const __m256i sums = _mm256_maddubs_epi16(reinterpret_cast<__m256i>(codes), _mm256_set1_epi8(1));
  beyond = reinterpret_cast<LaneHalves>(_mm256_subs_epu16(sums, _mm256_set1_epi16(kMostOfTwo)));
#elif defined(NNEFC_WIDE_X86)
  const __m512i sums = _mm512_maddubs_epi16(reinterpret_cast<__m512i>(codes), _mm512_set1_epi8(1));
  beyond = reinterpret_cast<LaneHalves>(_mm512_subs_epu16(sums, _mm512_set1_epi16(kMostOfTwo)));
#else
  for (int64_t i = 0; i < 2 * kLanes; ++i)
    beyond[i] = static_cast<int16_t>(std::max(codes[2 * i] + codes[2 * i + 1] - kMostOfTwo, 0));
#endif
}

// Returns a bit mask of the four-byte groups that are not all 0.
NNEFC_IN_LANES inline uint32_t QuadsWithBits(const LaneBytes& bytes) {
#if defined(NNEFC_NARROW_X86)
  constexpr uint32_t kAll = 0xFF;
  const __m256i zeros = _mm256_cmpeq_epi32(reinterpret_cast<__m256i>(bytes), __m256i{});
  return static_cast<uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(zeros))) ^ kAll;
#elif defined(NNEFC_WIDE_X86)
  return _mm512_test_epi32_mask(reinterpret_cast<__m512i>(bytes), reinterpret_cast<__m512i>(bytes));
#else
  const auto words = reinterpret_cast<LaneWords>(bytes);
  uint32_t bits = 0;
  for (int i = 0; i < kLanes; ++i) bits |= static_cast<uint32_t>(words[i] != 0) << i;
  return bits;
#endif
}

using QuadCodes = std::array<uint8_t, kQuad>;

bool HasTwoBeyond(const QuadCodes& codes) {
  return codes[0] + codes[1] > kMostOfTwo || codes[2] + codes[3] > kMostOfTwo;
}

void AddRest(const QuadCodes& rest, int64_t quad, int64_t most, CodeRest* rests, int64_t& count) {
  uint32_t bytes;
  std::memcpy(&bytes, rest.data(), sizeof(bytes));
  if (bytes != 0 && count <= most) rests[count++] = {static_cast<int32_t>(quad), bytes};
}

// Clamps four quantized values and stores their residuals.
void ClampQuad(const uint8_t* codes, int base, int64_t quad, uint8_t* out, CodeRests& rests) {
  QuadCodes above = {}, below = {};
  for (size_t two = 0; two < kQuad; two += 2) {
    for (size_t i = two; i < two + 2; ++i) {
      below[i] = static_cast<uint8_t>(std::max(base - codes[i], 0));
      out[i] = static_cast<uint8_t>(std::max(codes[i] - base, 0));
    }
    const size_t larger = out[two] < out[two + 1] ? two + 1 : two;
    above[larger] = static_cast<uint8_t>(std::max(out[two] + out[two + 1] - kMostOfTwo, 0));
    out[larger] = static_cast<uint8_t>(out[larger] - above[larger]);
  }
  AddRest(above, quad, rests.most, rests.above, rests.above_count);
  if (HasTwoBeyond(below)) {
    AddRest({below[0], 0, below[2], 0}, quad, rests.most, rests.below, rests.below_count);
    below[0] = below[2] = 0;
  }
  AddRest(below, quad, rests.most, rests.below, rests.below_count);
}

}  // namespace

void ClampCodes(const CodesToClamp& given, CodeRests& rests) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const CodesToClamp call = given;  // local copy, to exclude aliasing
    constexpr int64_t kCodes = 4 * kLanes;
    const LaneBytes base = LaneBytes{} + static_cast<uint8_t>(call.base);
    const auto clamp_quad = [&](int64_t at) {
      ClampQuad(call.codes + at, call.base, call.first_quad + at / kQuad, call.out + at, rests);
    };
    int64_t i = 0;
    for (; i + kCodes <= call.count; i += kCodes) {
      const LaneBytes codes = *reinterpret_cast<const LaneBytesAt*>(call.codes + i);
      LaneBytes clamped = codes, below = base;
      SubtractToZero(clamped, base);
      SubtractToZero(below, codes);
      LaneHalves beyond;
      BeyondOfTwo(clamped, beyond);
      *reinterpret_cast<LaneBytesAt*>(call.out + i) = clamped;
      uint32_t quads = QuadsWithBits(below | reinterpret_cast<LaneBytes>(beyond));
      for (; quads != 0; quads &= quads - 1) clamp_quad(i + kQuad * std::countr_zero(quads));
    }
    for (; i < call.count; i += kQuad) clamp_quad(i);
  });
}

void RunClampedTile(int64_t pixels, const QuadTile<uint8_t>& tile, const int32_t* start) {
  kClampedTiles[static_cast<size_t>(pixels - 1)](tile, start);
}

void RunQuadTile(int64_t pixels, const QuadTile<int16_t>& given) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const QuadTile<int16_t> call = given;  // local copy, to exclude aliasing
    constexpr int kAtOnce = 2;             // pixels whose sums fit registers
    int64_t pixel = 0;
    for (; pixel + kAtOnce <= pixels; pixel += kAtOnce) QuadTileOf<kAtOnce>(call, pixel);
    if (pixel < pixels) QuadTileOf<1>(call, pixel);
  });
}

void AddRests(const RestProducts& products) {
  kAddRests[static_cast<size_t>(products.blocks - 1)](products);
}

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE

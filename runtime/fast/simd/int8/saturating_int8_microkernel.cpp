// int8 microkernel with dot products of four elements (dot4) without VNNI, whose pair sums saturate.

#include "runtime/fast/simd/int8/saturating_int8_microkernel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "runtime/fast/simd/int8/dot4.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

constexpr int kParts = static_cast<int>(kVectorsPerBlock);

// dot4 by maddubs; valid if no sum of two products exceeds 16 bits
NNEFC_SIMD_INLINE inline void Dot4(const Uint8Vector& codes, const int8_t* weights, Uint32Vector& sums) {
#if defined(NNEFC_X86_AVX512)
  const __m512i pairs = _mm512_maddubs_epi16(reinterpret_cast<__m512i>(codes), _mm512_loadu_si512(weights));
  sums = reinterpret_cast<Uint32Vector>(_mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
#elif defined(NNEFC_X86_AVX2)
  const __m256i pairs = _mm256_maddubs_epi16(reinterpret_cast<__m256i>(codes),
                                             _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights)));
  sums = reinterpret_cast<Uint32Vector>(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
#else
  ScalarDot4(codes, weights, sums);
#endif
}

// Accumulates dot4 of a pixel's four quantized values and kBlockColumns outputs.
#if defined(NNEFC_X86_AVX2)
NNEFC_SIMD_INLINE inline void AddQuad(Uint32Vector (&sums)[kParts], const uint8_t* codes,
                                      const Uint8Vector& first_weights, const int8_t* weights,
                                      const Int16Vector& ones) {
  // All registers are in use: compilers would load the second weights into one and spill sums.
  Uint8Vector x, pairs;
  asm("vpbroadcastd %[codes], %[x]\n\t"
      "vpmaddubsw %[w0], %[x], %[pairs]\n\t"
      "vpmaddubsw %[w1], %[x], %[x]\n\t"
      "vpmaddwd %[ones], %[pairs], %[pairs]\n\t"
      "vpmaddwd %[ones], %[x], %[x]\n\t"
      "vpaddd %[pairs], %[sum0], %[sum0]\n\t"
      "vpaddd %[x], %[sum1], %[sum1]"
      : [sum0] "+x"(sums[0]), [sum1] "+x"(sums[1]), [x] "=&x"(x), [pairs] "=&x"(pairs)
      : [codes] "m"(*reinterpret_cast<const int32_t*>(codes)), [w0] "x"(first_weights),
        [w1] "m"(*reinterpret_cast<const UnalignedUint8Vector*>(weights + kVectorWeights)), [ones] "x"(ones));
}
#else
NNEFC_SIMD_INLINE inline void AddQuad(Uint32Vector (&sums)[kParts], const uint8_t* codes, const Uint8Vector&,
                                      const int8_t* weights, const Int16Vector&) {
  Uint8Vector x;
  BroadcastQuad(codes, x);
  for (int p = 0; p < kParts; ++p) {
    Uint32Vector products;
    Dot4(x, weights + p * kVectorWeights, products);
    sums[p] += products;
  }
}
#endif

// Stores one pixel.
NNEFC_SIMD_INLINE inline void StorePixel(const Uint32Vector (&sums)[kParts], int32_t* to) {
#pragma GCC unroll 2
  for (int p = 0; p < kParts; ++p) StoreAccumulators(sums[p], to + p * kSimdWidth);
}

template <int kPixels>
NNEFC_SIMD_INLINE inline void ClampedTileOf(const Dot4Tile<uint8_t>& call, const int32_t* start) {
  constexpr int64_t kQuadsTogether = 2;
  Uint32Vector sums[kPixels][kParts];
#pragma GCC unroll 16
  for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 2
    for (int p = 0; p < kParts; ++p) LoadAccumulators(start + p * kSimdWidth, sums[i][p]);
  }
  const Int16Vector ones = Int16Vector{} + int16_t{1};
  const int8_t* weights = call.weights;
  for (int64_t strip = 0; strip < call.strip_count; ++strip) {
    const uint8_t* from[kPixels];
#pragma GCC unroll 16
    for (int i = 0; i < kPixels; ++i) from[i] = call.numbers + call.seen[i] + call.strips[strip];
    const auto add_quad = [&](int64_t quad) NNEFC_SIMD_INLINE {
      const int8_t* own = weights + kQuadWeights * quad;
      const Uint8Vector first = *reinterpret_cast<const UnalignedUint8Vector*>(own);
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
void CallClampedTile(const Dot4Tile<uint8_t>& given, const int32_t* start) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const Dot4Tile<uint8_t> call = given;  // local copy, to exclude aliasing
    ClampedTileOf<kPixels>(call, start);
  });
}

// One instance per pixel count.
constexpr auto kClampedTiles = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<void (*)(const Dot4Tile<uint8_t>&, const int32_t*), kTileRows>{
      CallClampedTile<static_cast<int>(kIndex) + 1>...};
}(std::make_index_sequence<kTileRows>());

// Returns the sums of adjacent lane pairs from two registers.
NNEFC_SIMD_INLINE inline void AddNeighbours(const Uint32Vector& first, const Uint32Vector& second,
                                            Uint32Vector& sums) {
#if defined(NNEFC_X86_AVX2)
  constexpr int kInOrder = 0b11011000;
  sums = reinterpret_cast<Uint32Vector>(_mm256_permute4x64_epi64(
      _mm256_hadd_epi32(reinterpret_cast<__m256i>(first), reinterpret_cast<__m256i>(second)), kInOrder));
#else
  constexpr int kHalf = static_cast<int>(kSimdWidth) / 2;
#pragma GCC unroll 16
  for (int i = 0; i < kHalf; ++i) {
    sums[i] = first[2 * i] + first[2 * i + 1];
    sums[kHalf + i] = second[2 * i] + second[2 * i + 1];
  }
#endif
}

// Dot4 with weights widened to 16 bits: a register holds half as many outputs as it has lanes.
template <int kPixels>
NNEFC_SIMD_INLINE inline void QuadTileOf(const Dot4Tile<int16_t>& call, int64_t pixel) {
  constexpr int kHalves = 2 * kParts;
  Uint32Vector sums[kPixels][kHalves] = {};
  const int8_t* weights = call.weights;
  for (int64_t strip = 0; strip < call.strip_count; ++strip) {
    for (int64_t quad = 0; quad < call.quads; ++quad, weights += kQuadWeights) {
      Int16Vector factors[kHalves];
#pragma GCC unroll 4
      for (int p = 0; p < kHalves; ++p) LoadWeights(weights + 2 * kSimdWidth * p, factors[p]);
#pragma GCC unroll 4
      for (int i = 0; i < kPixels; ++i) {
        int64_t four;
        std::memcpy(&four, call.numbers + call.seen[pixel + i] + call.strips[strip] + kQuad * quad,
                    sizeof(four));
        using Int64Vector = int64_t __attribute__((vector_size(4 * NNEFC_SIMD_WIDTH)));
        const auto x = reinterpret_cast<Int16Vector>(Int64Vector{} + four);
#pragma GCC unroll 4
        for (int p = 0; p < kHalves; ++p) AddDot2(sums[i][p], x, factors[p]);
      }
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kPixels; ++i) {
    Uint32Vector own[kParts];
#pragma GCC unroll 2
    for (int p = 0; p < kParts; ++p) AddNeighbours(sums[i][2 * p], sums[i][2 * p + 1], own[p]);
    StorePixel(own, call.sums + (pixel + i) * kBlockColumns);
  }
}

template <int kBlocks, bool kIsAbove>
NNEFC_SIMD_INLINE inline void AddTerms(const ResidualProducts& call) {
  for (int64_t i = 0; i < call.count; ++i) {
    const ResidualTerm& term = call.terms[i];
    const int8_t* weights = call.weights + term.weights;
    int32_t* to = call.sums + (term.pixel - call.first_pixel) * kBlockColumns;
    Uint8Vector x;
    BroadcastQuad(&term.bytes, x);
#pragma GCC unroll 8
    for (int part = 0; part < kBlocks * kParts; ++part) {
      Uint32Vector products;
      Dot4(x, weights + part / kParts * call.block_stride + part % kParts * kVectorWeights, products);
      int32_t* const sums = to + part / kParts * call.sums_stride + part % kParts * kSimdWidth;
      Uint32Vector own;
      LoadAccumulators(sums, own);
      StoreAccumulators(kIsAbove ? own + products : own - products, sums);
    }
  }
}

template <int kBlocks>
void CallAddResiduals(const ResidualProducts& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const ResidualProducts call = given;  // local copy, to exclude aliasing
    call.is_above ? AddTerms<kBlocks, true>(call) : AddTerms<kBlocks, false>(call);
  });
}

// One instance per block count.
constexpr auto kAddResiduals = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<void (*)(const ResidualProducts&), kMaxResidualBlocks>{
      CallAddResiduals<static_cast<int>(kIndex) + 1>...};
}(std::make_index_sequence<kMaxResidualBlocks>());

// x - y, saturated at 0
NNEFC_SIMD_INLINE inline void SubtractToZero(Uint8Vector& x, const Uint8Vector& y) {
#if defined(NNEFC_X86_AVX2)
  x = reinterpret_cast<Uint8Vector>(
      _mm256_subs_epu8(reinterpret_cast<__m256i>(x), reinterpret_cast<__m256i>(y)));
#elif defined(NNEFC_X86_AVX512)
  x = reinterpret_cast<Uint8Vector>(
      _mm512_subs_epu8(reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(y)));
#else
  for (int64_t i = 0; i < 4 * kSimdWidth; ++i) x[i] = static_cast<uint8_t>(x[i] > y[i] ? x[i] - y[i] : 0);
#endif
}

// Returns the excess of each sum of two values over kMaxPairSum, saturated at 0.
NNEFC_SIMD_INLINE inline void BeyondOfTwo(const Uint8Vector& codes, Int16Vector& beyond) {
#if defined(NNEFC_X86_AVX2)
  const __m256i sums = _mm256_maddubs_epi16(reinterpret_cast<__m256i>(codes), _mm256_set1_epi8(1));
  beyond = reinterpret_cast<Int16Vector>(_mm256_subs_epu16(sums, _mm256_set1_epi16(kMaxPairSum)));
#elif defined(NNEFC_X86_AVX512)
  const __m512i sums = _mm512_maddubs_epi16(reinterpret_cast<__m512i>(codes), _mm512_set1_epi8(1));
  beyond = reinterpret_cast<Int16Vector>(_mm512_subs_epu16(sums, _mm512_set1_epi16(kMaxPairSum)));
#else
  for (int64_t i = 0; i < 2 * kSimdWidth; ++i)
    beyond[i] = static_cast<int16_t>(std::max(codes[2 * i] + codes[2 * i + 1] - kMaxPairSum, 0));
#endif
}

// Returns a bit mask of the four-byte groups that are not all 0.
NNEFC_SIMD_INLINE inline uint32_t QuadsWithBits(const Uint8Vector& bytes) {
#if defined(NNEFC_X86_AVX2)
  constexpr uint32_t kAll = 0xFF;
  const __m256i zeros = _mm256_cmpeq_epi32(reinterpret_cast<__m256i>(bytes), __m256i{});
  return static_cast<uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(zeros))) ^ kAll;
#elif defined(NNEFC_X86_AVX512)
  return _mm512_test_epi32_mask(reinterpret_cast<__m512i>(bytes), reinterpret_cast<__m512i>(bytes));
#else
  const auto words = reinterpret_cast<Int32Vector>(bytes);
  uint32_t bits = 0;
  for (int i = 0; i < kSimdWidth; ++i) bits |= static_cast<uint32_t>(words[i] != 0) << i;
  return bits;
#endif
}

using QuadValues = std::array<uint8_t, kQuad>;

bool HasTwoBeyond(const QuadValues& codes) {
  return codes[0] + codes[1] > kMaxPairSum || codes[2] + codes[3] > kMaxPairSum;
}

void AddResidual(const QuadValues& rest, int64_t quad, int64_t most, Residual* rests, int64_t& count) {
  uint32_t bytes;
  std::memcpy(&bytes, rest.data(), sizeof(bytes));
  if (bytes != 0 && count <= most) rests[count++] = {static_cast<int32_t>(quad), bytes};
}

// Clamps four quantized values and stores their residuals.
void ClampQuad(const uint8_t* codes, int base, int64_t quad, uint8_t* out, Residuals& rests) {
  QuadValues above = {}, below = {};
  for (size_t two = 0; two < kQuad; two += 2) {
    for (size_t i = two; i < two + 2; ++i) {
      below[i] = static_cast<uint8_t>(std::max(base - codes[i], 0));
      out[i] = static_cast<uint8_t>(std::max(codes[i] - base, 0));
    }
    const size_t larger = out[two] < out[two + 1] ? two + 1 : two;
    above[larger] = static_cast<uint8_t>(std::max(out[two] + out[two + 1] - kMaxPairSum, 0));
    out[larger] = static_cast<uint8_t>(out[larger] - above[larger]);
  }
  AddResidual(above, quad, rests.most, rests.above, rests.above_count);
  if (HasTwoBeyond(below)) {
    AddResidual({below[0], 0, below[2], 0}, quad, rests.most, rests.below, rests.below_count);
    below[0] = below[2] = 0;
  }
  AddResidual(below, quad, rests.most, rests.below, rests.below_count);
}

}  // namespace

void ClampValues(const ValuesToClamp& given, Residuals& rests) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const ValuesToClamp call = given;  // local copy, to exclude aliasing
    constexpr int64_t kCodes = 4 * kSimdWidth;
    const Uint8Vector base = Uint8Vector{} + static_cast<uint8_t>(call.base);
    const auto clamp_quad = [&](int64_t at) {
      ClampQuad(call.codes + at, call.base, call.first_quad + at / kQuad, call.out + at, rests);
    };
    int64_t i = 0;
    for (; i + kCodes <= call.count; i += kCodes) {
      const Uint8Vector codes = *reinterpret_cast<const UnalignedUint8Vector*>(call.codes + i);
      Uint8Vector clamped = codes, below = base;
      SubtractToZero(clamped, base);
      SubtractToZero(below, codes);
      Int16Vector beyond;
      BeyondOfTwo(clamped, beyond);
      *reinterpret_cast<UnalignedUint8Vector*>(call.out + i) = clamped;
      uint32_t quads = QuadsWithBits(below | reinterpret_cast<Uint8Vector>(beyond));
      for (; quads != 0; quads &= quads - 1) clamp_quad(i + kQuad * std::countr_zero(quads));
    }
    for (; i < call.count; i += kQuad) clamp_quad(i);
  });
}

void RunSaturatingMicrokernel(int64_t pixels, const Dot4Tile<uint8_t>& tile, const int32_t* start) {
  kClampedTiles[static_cast<size_t>(pixels - 1)](tile, start);
}

void RunInt16Dot4Microkernel(int64_t pixels, const Dot4Tile<int16_t>& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const Dot4Tile<int16_t> call = given;  // local copy, to exclude aliasing
    constexpr int kAtOnce = 2;             // pixels whose sums fit registers
    int64_t pixel = 0;
    for (; pixel + kAtOnce <= pixels; pixel += kAtOnce) QuadTileOf<kAtOnce>(call, pixel);
    if (pixel < pixels) QuadTileOf<1>(call, pixel);
  });
}

void AddResiduals(const ResidualProducts& products) {
  kAddResiduals[static_cast<size_t>(products.blocks - 1)](products);
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

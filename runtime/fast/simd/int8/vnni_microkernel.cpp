// int8 microkernel with dot products of four elements (dot4) by VNNI: i32 accumulators of a tile of pixels
// and outputs, stored or requantized.

#include "runtime/fast/simd/int8/vnni_microkernel.h"

#include <array>
#include <utility>

#include "runtime/fast/simd/int8/dot4.h"
#include "runtime/fast/simd/int8/requantize.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

// Requantizes onto previous values in `out`.
template <int kPixels, int kParts>
NNEFC_SIMD_INLINE inline void StoreSumTile(const RequantizedResults& results,
                                           const Uint32Vector (&sums)[kPixels][kParts]) {
  constexpr int kOfBlock = static_cast<int>(kVectorsPerBlock);
  RequantizedResults own = results;
#pragma GCC unroll 2
  for (int block = 0; block < kParts / kOfBlock; ++block) {
    Requantizer maker;
    maker.Make(own);
#pragma GCC unroll 16
    for (int i = 0; i < kPixels; ++i) {
      FloatVector numbers[kOfBlock];
#pragma GCC unroll 2
      for (int p = 0; p < kOfBlock; ++p)
        numbers[p] = __builtin_convertvector(reinterpret_cast<Int32Vector>(sums[i][block * kOfBlock + p]),
                                             FloatVector);
      maker.Store<true, true>(numbers, own.out + i * own.stride);
    }
    own.scales += kBlockColumns;
    own.bias += kBlockColumns;
    own.out += kBlockColumns;
  }
}

// Stores saturated values of kParts vectors per pixel.
template <int kPixels, int kParts>
NNEFC_SIMD_INLINE inline void StoreWords(const Int32Vector (&words)[kPixels][kParts], uint8_t* out,
                                         int64_t stride) {
#if defined(NNEFC_X86_AVX512)
  // Four vectors at once become one of interleaved groups of four values.
  const __m512i in_order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  constexpr int kVectors = kPixels * kParts, kFour = 4;
#pragma GCC unroll 8
  for (int first = 0; first + kFour <= kVectors; first += kFour) {
    __m512i four[kFour];
#pragma GCC unroll 4
    for (int i = 0; i < kFour; ++i)
      four[i] = reinterpret_cast<__m512i>(words[(first + i) / kParts][(first + i) % kParts]);
    const __m512i mixed =
        _mm512_packus_epi16(_mm512_packs_epi32(four[0], four[1]), _mm512_packs_epi32(four[2], four[3]));
    const __m512i bytes = _mm512_permutexvar_epi32(in_order, mixed);
    uint8_t* to = out + first / kParts * stride;
    if constexpr (kParts == 2) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_castsi512_si256(bytes));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + stride), _mm512_extracti64x4_epi64(bytes, 1));
    } else {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_castsi512_si128(bytes));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + stride), _mm512_extracti32x4_epi32(bytes, 1));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 2 * stride), _mm512_extracti32x4_epi32(bytes, 2));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 3 * stride), _mm512_extracti32x4_epi32(bytes, 3));
    }
  }
#pragma GCC unroll 3
  for (int i = kVectors / kFour * kFour; i < kVectors; ++i)
    StoreSaturated(&words[i / kParts][i % kParts], out + i / kParts * stride + i % kParts * kBlockColumns);
#else
#pragma GCC unroll 16
  for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 2
    for (int p = 0; p < kParts; p += static_cast<int>(kVectorsPerBlock))
      StoreSaturated(&words[i][p], out + i * stride + p * kSimdWidth);
  }
#endif
}

template <int kPixels, int kParts>
NNEFC_SIMD_INLINE inline void StoreCodesTile(const RequantizedResults& results,
                                             const Uint32Vector (&sums)[kPixels][kParts]) {
  const FloatVector low = FloatVector{} + results.low, high = FloatVector{} + results.high;
  Int32Vector words[kPixels][kParts];
#pragma GCC unroll 4
  for (int p = 0; p < kParts; ++p) {
    const auto load = [&](const float* from) NNEFC_SIMD_INLINE -> FloatVector {
      return *reinterpret_cast<const UnalignedFloatVector*>(from + p * kSimdWidth);
    };
    const FloatVector scales = load(results.scales), bias = load(results.bias);
#pragma GCC unroll 16
    for (int i = 0; i < kPixels; ++i) {
      const FloatVector sum = __builtin_convertvector(reinterpret_cast<Int32Vector>(sums[i][p]), FloatVector);
      FloatVector x = (sum + bias) * scales;
      Max(x, low);
      Min(x, high);
      RoundToWords(x, words[i][p]);
    }
  }
  StoreWords(words, results.out, results.stride);
}

template <int kPixels, int kParts>
NNEFC_SIMD_INLINE inline void StoreHSwishTile(const HSwishResults& results,
                                              const Uint32Vector (&sums)[kPixels][kParts]) {
  Int32Vector words[kPixels][kParts];
#pragma GCC unroll 4
  for (int p = 0; p < kParts; ++p) {
    const auto load = [&](const float* from) NNEFC_SIMD_INLINE -> FloatVector {
      return *reinterpret_cast<const UnalignedFloatVector*>(from + p * kSimdWidth);
    };
    const FloatVector gate_scales = load(results.gate_scales), gate_bias = load(results.gate_bias);
    const FloatVector scales = load(results.scales), bias = load(results.bias),
                      offsets = load(results.offsets);
#pragma GCC unroll 16
    for (int i = 0; i < kPixels; ++i) {
      const FloatVector sum = __builtin_convertvector(reinterpret_cast<Int32Vector>(sums[i][p]), FloatVector);
      FloatVector gate = sum * gate_scales + gate_bias;
      Max(gate, FloatVector{});
      Min(gate, FloatVector{} + 1.0F);
      FloatVector x = gate * (sum * scales + bias) + offsets;
      FloatVector limited = FloatVector{} + 255.0F;
      Min(limited, x);  // NaN is preserved
      RoundToWords(limited, words[i][p]);
    }
  }
  StoreWords(words, results.out, results.stride);
}

template <int kPixels, int kParts>
NNEFC_SIMD_INLINE inline void StoreNumbersTile(const DequantizedResults& results,
                                               const Uint32Vector (&sums)[kPixels][kParts]) {
  const auto load = [&](const float* from, int p) NNEFC_SIMD_INLINE -> FloatVector {
    return *reinterpret_cast<const UnalignedFloatVector*>(from + p * kSimdWidth);
  };
  FloatVector numbers[kPixels][kParts];
#pragma GCC unroll 4
  for (int p = 0; p < kParts; ++p) {
    const FloatVector scales = load(results.scales, p);
    FloatVector bias = {};
    if (results.bias != nullptr) bias = load(results.bias, p);
#pragma GCC unroll 16
    for (int i = 0; i < kPixels; ++i)
      numbers[i][p] =
          __builtin_convertvector(reinterpret_cast<Int32Vector>(sums[i][p]), FloatVector) * scales + bias;
  }
  const auto for_all = [&](const auto& function) NNEFC_SIMD_INLINE {
#pragma GCC unroll 16
    for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 4
      for (int p = 0; p < kParts; ++p)
        function(numbers[i][p], i * results.stride + VectorOffset(p, results.block_stride));
    }
  };
  if (results.start != nullptr) {
    for_all([&](FloatVector& x, int64_t at) NNEFC_SIMD_INLINE {
      x += *reinterpret_cast<const UnalignedFloatVector*>(results.start + at);
    });
  }
  const Limits& limits = results.limits;
  if (limits.has_max) {
    const FloatVector most = FloatVector{} + limits.max;
    for_all([&](FloatVector& x, int64_t) NNEFC_SIMD_INLINE { Min(x, most); });
  }
  if (limits.has_min) {
    const FloatVector least = FloatVector{} + limits.min;
    for_all([&](FloatVector& x, int64_t) NNEFC_SIMD_INLINE { Max(x, least); });
  }
  for_all([&](const FloatVector& x, int64_t at)
              NNEFC_SIMD_INLINE { *reinterpret_cast<UnalignedFloatVector*>(results.out + at) = x; });
}

constexpr int kSecondCache = 2;

template <int kPixels, int kBlocks>
NNEFC_SIMD_INLINE inline void VnniTileOf(const VnniTile& call) {
  constexpr int kOfBlock = static_cast<int>(kVectorsPerBlock), kParts = kBlocks * kOfBlock;
  const Dot4Tile<uint8_t>& products = call.products;
  Uint32Vector sums[kPixels][kParts];
#pragma GCC unroll 16
  for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 2
    for (int p = 0; p < kParts; ++p) LoadAccumulators(call.start + p * kSimdWidth, sums[i][p]);
  }
  const int8_t* next = call.next;
  const int8_t* weights[kBlocks];
#pragma GCC unroll 2
  for (int block = 0; block < kBlocks; ++block)
    weights[block] = products.weights + block * call.weights_stride;
  for (int64_t strip = 0; strip < products.strip_count; ++strip) {
    const uint8_t* from[kPixels];
#pragma GCC unroll 16
    for (int i = 0; i < kPixels; ++i) from[i] = products.numbers + products.seen[i] + products.strips[strip];
    for (int64_t quad = 0; quad < products.quads; ++quad) {
      if (quad % kQuadsPerPrefetch == 0) {
        for (int64_t line = 0; line < call.next_lines; ++line, next += kQuadWeights)
          __builtin_prefetch(next, 0, kSecondCache);
      }
      Uint8Vector own[kParts];
#pragma GCC unroll 2
      for (int p = 0; p < kParts; ++p)
        own[p] = *reinterpret_cast<const UnalignedUint8Vector*>(weights[p / kOfBlock] + kQuadWeights * quad +
                                                                p % kOfBlock * kVectorWeights);
#pragma GCC unroll 16
      for (int i = 0; i < kPixels; ++i) {
        Uint8Vector codes;
        BroadcastQuad(from[i] + kQuad * quad, codes);
#pragma GCC unroll 2
        for (int p = 0; p < kParts; ++p) AddQuads(sums[i][p], codes, own[p]);
      }
    }
#pragma GCC unroll 2
    for (int block = 0; block < kBlocks; ++block) weights[block] += kQuadWeights * products.quads;
  }
  if (call.hard_swish != nullptr) return StoreHSwishTile(*call.hard_swish, sums);
  if (call.numbers != nullptr) return StoreNumbersTile(*call.numbers, sums);
  if (call.codes != nullptr)
    return call.codes->has_others ? StoreSumTile(*call.codes, sums) : StoreCodesTile(*call.codes, sums);
#pragma GCC unroll 16
  for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 2
    for (int p = 0; p < kParts; ++p)
      StoreAccumulators(sums[i][p],
                        products.sums + i * call.pixel_stride + VectorOffset(p, call.sums_stride));
  }
}

template <int kPixels, int kBlocks>
void CallVnniTile(const VnniTile& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const VnniTile call = given;  // local copy, to exclude aliasing
    VnniTileOf<kPixels, kBlocks>(call);
  });
}

// One instance per pixel count.
template <int kBlocks>
constexpr auto kVnniTiles = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<void (*)(const VnniTile&), kTileRows>{
      CallVnniTile<static_cast<int>(kIndex) + 1, kBlocks>...};
}(std::make_index_sequence<kTileRows>());

}  // namespace

void RunVnniMicrokernel(int64_t pixels, int64_t blocks, const VnniTile& tile) {
  const auto at = static_cast<size_t>(pixels - 1);
  if (blocks != kBlocksPerTile) return kVnniTiles<1>[at](tile);
  kVnniTiles<kBlocksPerTile>[at](tile);
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

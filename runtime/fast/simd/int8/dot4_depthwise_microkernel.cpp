// int8 depthwise convolution with VNNI. Groups of four pixels start at every second pixel. With stride 1 a
// group serves two results: the second one multiplies it by weights that are moved by one pixel. With stride
// 2 it serves one.

#include "runtime/fast/simd/int8/dot4_depthwise_microkernel.h"

#include <array>
#include <cstring>
#include <utility>

#include "runtime/fast/simd/int8/dot4.h"
#include "runtime/fast/simd/int8/requantize.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

// The accumulators of a tile: half of the registers, and the results that have them.
constexpr int kMaxDepthwiseResults = kSimdWidth == kBlockColumns ? 12 : 4;
constexpr int kDepthwiseParts = static_cast<int>(kVectorsPerBlock);

// Reads pixels of a row of an image or, outside of it, of the border.
struct PixelReader {
  const PixelQuads& row;

  NNEFC_SIMD_INLINE const uint8_t* At(int64_t pixel) const {
    return row.pixels == nullptr || pixel < 0 || pixel >= row.inputs ? row.border
                                                                     : row.pixels + pixel * row.stride;
  }
};

#if defined(NNEFC_X86_AVX512)

// Four pixels, one in each 128-bit lane.
template <bool kIsWhole>
NNEFC_SIMD_INLINE inline void LoadFourPixels(const uint8_t* const (&from)[kQuad], __mmask16 channels,
                                             __m512i& pixels) {
  const auto load = [&](int i) NNEFC_SIMD_INLINE {
    return kIsWhole ? _mm_loadu_si128(reinterpret_cast<const __m128i*>(from[i]))
                    : _mm_maskz_loadu_epi8(channels, from[i]);
  };
  pixels = _mm512_castsi128_si512(load(0));
  pixels = _mm512_inserti32x4(pixels, load(1), 1);
  pixels = _mm512_inserti32x4(pixels, load(2), 2);
  pixels = _mm512_inserti32x4(pixels, load(3), 3);
}

template <bool kIsWhole>
NNEFC_SIMD_INLINE inline void InterleaveRow(const PixelQuads& row) {
  const auto channels = static_cast<__mmask16>((1U << row.channels) - 1);
  // Four bytes of each of four pixels together, then the bytes of each channel.
  const __m512i first_half = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i second_half = _mm512_add_epi32(first_half, _mm512_set1_epi32(8));
  const __m512i by_channel =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  const PixelReader reader{row};
  const auto load = [&](int64_t pixel, __m512i& pixels) NNEFC_SIMD_INLINE {
    const uint8_t* const from[] = {reader.At(pixel), reader.At(pixel + 1), reader.At(pixel + 2),
                                   reader.At(pixel + 3)};
    // The border has all channels.
    LoadFourPixels<kIsWhole>(from, channels, pixels);
  };
  const auto load_inside = [&](int64_t pixel, __m512i& pixels) NNEFC_SIMD_INLINE {
    const uint8_t* begin = row.pixels + pixel * row.stride;
    const uint8_t* const from[] = {begin, begin + row.stride, begin + 2 * row.stride, begin + 3 * row.stride};
    LoadFourPixels<kIsWhole>(from, channels, pixels);
  };
  const auto store = [&](int64_t quad, const __m512i& dwords) NNEFC_SIMD_INLINE {
    _mm512_storeu_si512(row.out + quad * kQuadWeights, _mm512_shuffle_epi8(dwords, by_channel));
  };
  const __m512i border =
      _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(row.border)));
  __m512i four, next;
  load(row.first, four);
  int64_t quad = 0;
  for (; quad + 1 < row.quads; quad += 2) {
    const int64_t pixel = row.first + 2 * quad + kQuad;
    if (row.pixels == nullptr || pixel >= row.inputs) {
      next = border;
    } else if (pixel >= 0 && pixel + kQuad <= row.inputs) {
      load_inside(pixel, next);
    } else {
      load(pixel, next);
    }
    store(quad, _mm512_permutexvar_epi32(first_half, four));
    store(quad + 1, _mm512_permutex2var_epi32(four, second_half, next));
    four = next;
  }
  if (quad < row.quads) store(quad, _mm512_permutexvar_epi32(first_half, four));
}

#elif defined(NNEFC_X86_AVX2)

// The bytes of two pixels in turn: channels 0 to 7, and 8 to 15.
struct PixelPair {
  __m128i low, high;
};

template <bool kIsWhole>
NNEFC_SIMD_INLINE inline void InterleaveRow(const PixelQuads& row) {
  const PixelReader reader{row};
  const auto load = [&](int64_t pixel, PixelPair& pair) NNEFC_SIMD_INLINE {
    const int64_t channels = kIsWhole ? kBlockColumns : row.channels;
    const __m128i a = LoadPixel(reader.At(pixel), channels), b = LoadPixel(reader.At(pixel + 1), channels);
    pair.low = _mm_unpacklo_epi8(a, b);
    pair.high = _mm_unpackhi_epi8(a, b);
  };
  PixelPair pair, next;
  load(row.first, pair);
  for (int64_t quad = 0; quad < row.quads; ++quad) {
    load(row.first + 2 * quad + 2, next);
    auto* out = reinterpret_cast<__m128i*>(row.out + quad * kQuadWeights);
    _mm_storeu_si128(out, _mm_unpacklo_epi16(pair.low, next.low));
    _mm_storeu_si128(out + 1, _mm_unpackhi_epi16(pair.low, next.low));
    _mm_storeu_si128(out + 2, _mm_unpacklo_epi16(pair.high, next.high));
    _mm_storeu_si128(out + 3, _mm_unpackhi_epi16(pair.high, next.high));
    pair = next;
  }
}

#else

template <bool kIsWhole>
NNEFC_SIMD_INLINE inline void InterleaveRow(const PixelQuads& row) {
  const PixelReader reader{row};
  const int64_t channels = kIsWhole ? kBlockColumns : row.channels;
  for (int64_t quad = 0; quad < row.quads; ++quad) {
    for (int64_t i = 0; i < kQuad; ++i) {
      const uint8_t* from = reader.At(row.first + 2 * quad + i);
      for (int64_t c = 0; c < channels; ++c) row.out[quad * kQuadWeights + c * kQuad + i] = from[c];
    }
  }
}

#endif

template <bool kIsWhole>
NNEFC_SIMD_INLINE inline void WidenRowOfPixels(const WidenedPixels& row) {
  for (int64_t pixel = 0; pixel < row.count; ++pixel) {
#pragma GCC unroll 4
    for (int part = 0; part < kDepthwiseParts; ++part) {
      Int32Vector words;
      LoadChannels<kIsWhole>(row.pixels + pixel * row.stride, row.channels, part, words);
      *reinterpret_cast<UnalignedFloatVector*>(row.out + pixel * kBlockColumns + part * kSimdWidth) =
          __builtin_convertvector(words - row.zero, FloatVector) * row.scale;
    }
  }
}

template <bool kHasOthers, bool kIsLimited, int kResults>
NNEFC_SIMD_INLINE inline void StoreQuantizedDepthwiseTile(
    const RequantizedResults& results, int64_t first, int64_t count,
    const Uint32Vector (&sums)[kResults][kDepthwiseParts]) {
  Requantizer maker;
  maker.Make(results);
  uint8_t* out = results.out + first * results.stride;
#pragma GCC unroll 16
  for (int i = 0; i < kResults; ++i) {
    if (i == kResults - 1 && i >= count) break;
    FloatVector numbers[kDepthwiseParts];
#pragma GCC unroll 4
    for (int p = 0; p < kDepthwiseParts; ++p)
      numbers[p] = __builtin_convertvector(reinterpret_cast<Int32Vector>(sums[i][p]), FloatVector);
    maker.Store<kHasOthers, kIsLimited>(numbers, out + i * results.stride);
  }
}

// Computes kGroups groups of pixels in each row from `first` on: kStride == 1 ? 2 * kGroups : kGroups
// results. Of these the last one may not exist.
template <int kStride, int kGroups>
NNEFC_SIMD_INLINE inline void RunDot4DepthwiseTile(const Dot4DepthwiseRow& call, int64_t first) {
  constexpr int kEach = kStride == 1 ? 2 : 1, kResults = kEach * kGroups;
  Uint32Vector sums[kResults][kDepthwiseParts];
#pragma GCC unroll 16
  for (int i = 0; i < kResults; ++i) {
#pragma GCC unroll 4
    for (int p = 0; p < kDepthwiseParts; ++p) LoadAccumulators(call.start + p * kSimdWidth, sums[i][p]);
  }
  const int8_t* weights = call.weights;
  for (int64_t row = 0; row < call.row_count; ++row) {
    const uint8_t* from = call.rows[row] + first * kQuadWeights;
    Uint32Vector previous[kDepthwiseParts] = {};
    for (int64_t quad = 0; quad < call.quads; ++quad, weights += kQuadWeights, from += 2 * kQuadWeights) {
#pragma GCC unroll 4
      for (int p = 0; p < kDepthwiseParts; ++p) {
        const Uint8Vector own = *reinterpret_cast<const UnalignedUint8Vector*>(weights + p * kVectorWeights);
        [[maybe_unused]] Uint8Vector moved;
        if constexpr (kStride == 1) {
          constexpr int kByte = 8, kLastByte = 24;
          const auto words = reinterpret_cast<Uint32Vector>(own);
          moved = reinterpret_cast<Uint8Vector>(words << kByte | previous[p] >> kLastByte);
          previous[p] = words;
        }
#pragma GCC unroll 16
        for (int i = 0; i < kGroups; ++i) {
          const Uint8Vector codes =
              *reinterpret_cast<const UnalignedUint8Vector*>(from + i * kQuadWeights + p * kVectorWeights);
          AddQuads(sums[kEach * i][p], codes, own);
          if constexpr (kStride == 1) AddQuads(sums[kEach * i + 1][p], codes, moved);
        }
      }
    }
  }
  const int64_t pixel = kEach * first, count = call.pixels - pixel;
  if (const RequantizedResults* results = call.codes; results != nullptr) {
    if (results->has_others) return StoreQuantizedDepthwiseTile<true, true>(*results, pixel, count, sums);
    if (results->is_limited) return StoreQuantizedDepthwiseTile<false, true>(*results, pixel, count, sums);
    return StoreQuantizedDepthwiseTile<false, false>(*results, pixel, count, sums);
  }
#pragma GCC unroll 16
  for (int i = 0; i < kResults; ++i) {
    if (i == kResults - 1 && i >= count) break;
#pragma GCC unroll 4
    for (int p = 0; p < kDepthwiseParts; ++p)
      StoreAccumulators(sums[i][p], call.sums + (pixel + i) * kBlockColumns + p * kSimdWidth);
  }
}

template <int kStride, int kGroups>
void CallDot4DepthwiseTile(const Dot4DepthwiseRow& given, int64_t first) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const Dot4DepthwiseRow call = given;  // local copy, to exclude aliasing
    RunDot4DepthwiseTile<kStride, kGroups>(call, first);
  });
}

// One instance per number of groups.
template <int kStride>
constexpr auto kDot4DepthwiseTiles = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<void (*)(const Dot4DepthwiseRow&, int64_t), sizeof...(kIndex)>{
      CallDot4DepthwiseTile<kStride, static_cast<int>(kIndex) + 1>...};
}(std::make_index_sequence < kStride == 1 ? kMaxDepthwiseResults / 2 : kMaxDepthwiseResults > ());

// Divides the groups equally among tiles.
template <int kStride>
void RunDot4DepthwiseTiles(const Dot4DepthwiseRow& call) {
  constexpr auto kMaxGroups = static_cast<uint32_t>(kDot4DepthwiseTiles<kStride>.size());
  const auto groups = static_cast<uint32_t>(kStride == 1 ? (call.pixels + 1) / 2 : call.pixels);
  const uint32_t tiles = (groups + kMaxGroups - 1) / kMaxGroups, each = groups / tiles,
                 longer = groups - each * tiles;
  for (uint32_t tile = 0, first = 0; tile < tiles; ++tile) {
    const uint32_t count = tile < longer ? each + 1 : each;
    kDot4DepthwiseTiles<kStride>[count - 1](call, first);
    first += count;
  }
}

}  // namespace

void InterleavePixels(const PixelQuads& given) {
  if (given.quads == 0) return;
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const PixelQuads row = given;  // local copy, to exclude aliasing
    row.channels == kBlockColumns ? InterleaveRow<true>(row) : InterleaveRow<false>(row);
  });
}

void WidenPixels(const WidenedPixels& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const WidenedPixels row = given;  // local copy, to exclude aliasing
    row.channels == kBlockColumns ? WidenRowOfPixels<true>(row) : WidenRowOfPixels<false>(row);
  });
}

void RunDot4Depthwise(const Dot4DepthwiseRow& given) {
  const auto run = [](const Dot4DepthwiseRow& row) {
    row.stride == 1 ? RunDot4DepthwiseTiles<1>(row) : RunDot4DepthwiseTiles<2>(row);
  };
  if (given.codes == nullptr || given.codes->channels == kBlockColumns) return run(given);
  // Partial blocks of channels.
  constexpr int64_t kPixels = 2 * kMaxDepthwiseResults;
  int32_t sums[kPixels * kBlockColumns];
  Dot4DepthwiseRow row = given;
  RequantizedResults results = *given.codes;
  row.codes = nullptr;
  std::array<const uint8_t*, kMaxDepthwiseTaps> rows;
  row.rows = rows.data();
  for (int64_t first = 0; first < given.pixels; first += kPixels) {
    const int64_t group = given.stride == 1 ? first / 2 : first;
    for (int64_t i = 0; i < given.row_count; ++i)
      rows[static_cast<size_t>(i)] = given.rows[i] + group * kQuadWeights;
    row.pixels = results.pixels = std::min(kPixels, given.pixels - first);
    row.sums = sums;
    run(row);
    results.sums = sums;
    results.out = given.codes->out + first * results.stride;
    StoreRequantized(results);
  }
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

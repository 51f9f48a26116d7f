// int8 microkernels with i16 operands, whose products are added in pairs (dot2).

#include "runtime/fast/simd/int8/dot2_microkernel.h"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/fast/simd/int8/dot2.h"
#include "runtime/fast/simd/int8/requantize.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

template <int kPixels, typename Weight>
NNEFC_SIMD_INLINE inline void SumTileOf(const Dot2Tile<Weight>& call) {
  constexpr int kParts = static_cast<int>(kVectorsPerBlock);
  constexpr int64_t kPairsTogether = 2;
  Uint32Vector sums[kPixels][kParts] = {};
  const Weight* weights = call.weights;
  for (int64_t strip = 0; strip < call.strip_count; ++strip) {
    const int16_t* from[kPixels];
#pragma GCC unroll 16
    for (int i = 0; i < kPixels; ++i) from[i] = call.numbers + call.seen[i] + call.strips[strip];
    const auto add_pair = [&](int64_t pair) NNEFC_SIMD_INLINE {
      Int16Vector factors[kParts];
#pragma GCC unroll 2
      for (int p = 0; p < kParts; ++p)
        LoadWeights(weights + 2 * (kBlockColumns * pair + kSimdWidth * p), factors[p]);
#pragma GCC unroll 16
      for (int i = 0; i < kPixels; ++i) {
        Int16Vector x;
        BroadcastPair(from[i] + 2 * pair, x);
#pragma GCC unroll 2
        for (int p = 0; p < kParts; ++p) AddDot2(sums[i][p], x, factors[p]);
      }
    };
    int64_t pair = 0;
    for (; pair + kPairsTogether <= call.pairs; pair += kPairsTogether) {
#pragma GCC unroll 2
      for (int64_t i = 0; i < kPairsTogether; ++i) add_pair(pair + i);
    }
    for (; pair < call.pairs; ++pair) add_pair(pair);
    weights += 2 * kBlockColumns * call.pairs;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 2
    for (int p = 0; p < kParts; ++p)
      *reinterpret_cast<UnalignedInt32Vector*>(call.sums + i * kBlockColumns + p * kSimdWidth) =
          reinterpret_cast<Int32Vector>(sums[i][p]);
  }
}

template <int kPixels, typename Weight>
void CallSumTile(const Dot2Tile<Weight>& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const Dot2Tile<Weight> call = given;  // local copy, to exclude aliasing
    SumTileOf<kPixels>(call);
  });
}

// One instance per pixel count.
template <typename Weight>
constexpr auto kSumTiles = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<void (*)(const Dot2Tile<Weight>&), kTileRows>{
      CallSumTile<static_cast<int>(kIndex) + 1, Weight>...};
}(std::make_index_sequence<kTileRows>());
static_assert(kTileRows <= kMaxDot2Pixels);

template <typename Number>
NNEFC_SIMD_INLINE inline void WidenRow(const uint8_t* codes, int64_t count, int zero, Number* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<Number>(int{codes[i]} - zero);
}

template <typename Number>
NNEFC_SIMD_INLINE inline void WidenRows(const WidenedValues<Number>& given) {
  const WidenedValues<Number> call = given;  // local copy, to exclude aliasing
  for (int64_t row = 0; row < call.rows; ++row) {
    const uint8_t* codes = call.codes + row * call.stride;
    Number* out = call.out + row * call.out_stride;
    if (call.count == kBlockColumns && std::is_same_v<Number, float>) {
#pragma GCC unroll 2
      for (int64_t i = 0; i < kBlockColumns; i += kSimdWidth) {
        Int32Vector words;
        LoadUint8(codes + i, words);
        if (call.zeros != nullptr) {
          words -= *reinterpret_cast<const UnalignedInt32Vector*>(call.zeros + i);
        } else {
          words -= call.zero;
        }
        *reinterpret_cast<UnalignedFloatVector*>(out + i) = __builtin_convertvector(words, FloatVector);
      }
    } else if (call.zeros != nullptr) {
      for (int64_t i = 0; i < call.count; ++i) out[i] = static_cast<Number>(int{codes[i]} - call.zeros[i]);
    } else {
      WidenRow(codes, call.count, call.zero, out);
    }
  }
}

template <int kPixels>
NNEFC_SIMD_INLINE inline void DepthwisePixels(const QuantizedDepthwise& call, int64_t first) {
  constexpr int kParts = static_cast<int>(kVectorsPerBlock);
  FloatVector sums[kPixels][kParts] = {};
  const float* pixels[kPixels];
#pragma GCC unroll 4
  for (int i = 0; i < kPixels; ++i) pixels[i] = call.numbers + call.seen[first + i];
  const float* weights = call.weights;
  for (int64_t tap = 0; tap < call.tap_count; ++tap, weights += kBlockColumns) {
#pragma GCC unroll 2
    for (int p = 0; p < kParts; ++p) {
      const FloatVector weight = *reinterpret_cast<const UnalignedFloatVector*>(weights + p * kSimdWidth);
#pragma GCC unroll 4
      for (int i = 0; i < kPixels; ++i)
        sums[i][p] +=
            *reinterpret_cast<const UnalignedFloatVector*>(pixels[i] + call.taps[tap] + p * kSimdWidth) *
            weight;
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 2
    for (int p = 0; p < kParts; ++p)
      *reinterpret_cast<UnalignedInt32Vector*>(call.sums + (first + i) * kBlockColumns + p * kSimdWidth) =
          __builtin_convertvector(sums[i][p], Int32Vector);
  }
}

// Results with the first channels of a block. Several pixels are loaded before the first is stored, since
// loads near stores with masks wait for them.
template <bool kHasOthers, bool kIsLimited>
NNEFC_SIMD_INLINE inline void StorePartialBlocks(const RequantizedResults& call, const Requantizer& maker) {
  constexpr int64_t kTogether = 16;
  uint8_t codes[kTogether][kBlockColumns];
  for (int64_t first = 0; first < call.pixels; first += kTogether) {
    const int64_t count = std::min(kTogether, call.pixels - first);
    uint8_t* out = call.out + first * call.stride;
    if constexpr (kHasOthers) {
      for (int64_t pixel = 0; pixel < count; ++pixel)
        LoadFirstUint8(out + pixel * call.stride, call.channels, codes[pixel]);
    }
    for (int64_t pixel = 0; pixel < count; ++pixel)
      maker.Store<kHasOthers, kIsLimited>(call.sums + (first + pixel) * kBlockColumns, codes[pixel]);
    for (int64_t pixel = 0; pixel < count; ++pixel)
      CopyFirstUint8(codes[pixel], call.channels, out + pixel * call.stride);
  }
}

template <bool kHasOthers, bool kIsLimited>
NNEFC_SIMD_INLINE inline void StoreRequantizedTile(const RequantizedResults& call) {
  Requantizer maker;
  maker.Make(call);
  if (call.channels != kBlockColumns) return StorePartialBlocks<kHasOthers, kIsLimited>(call, maker);
  for (int64_t pixel = 0; pixel < call.pixels; ++pixel)
    maker.Store<kHasOthers, kIsLimited>(call.sums + pixel * kBlockColumns, call.out + pixel * call.stride);
}

// Stores accumulators, in the place of a Requantizer.
struct SumStore {
  template <bool kHasOthers, bool kIsLimited>
  NNEFC_SIMD_INLINE void Store(const FloatVector (&sums)[kVectorsPerBlock], uint8_t* out) const {
#pragma GCC unroll 2
    for (int64_t part = 0; part < kVectorsPerBlock; ++part)
      reinterpret_cast<UnalignedInt32Vector*>(out)[part] = __builtin_convertvector(sums[part], Int32Vector);
  }
};

// A row of a 3x3 depthwise convolution, processed by input columns: each contributes to three results, as
// their first, second and third tap.
template <bool kHasZero, bool kIsLimited, typename Maker>
struct DepthwiseRow {
  static constexpr int kTaps = 3;
  using Sums = FloatVector[kVectorsPerBlock];

  const QuantizedDepthwiseRow& call;
  const Maker& maker;
  uint8_t* out;
  int64_t out_stride;

  NNEFC_SIMD_INLINE void Load(int row, int64_t column, int64_t part, FloatVector& numbers) const {
    Int32Vector words;
    LoadUint8(call.rows[row] + column * call.pixel_strides[row] + part * kSimdWidth, words);
    if constexpr (kHasZero)
      words -= *reinterpret_cast<const UnalignedInt32Vector*>(call.zeros + part * kSimdWidth);
    numbers = __builtin_convertvector(words, FloatVector);
  }
  NNEFC_SIMD_INLINE void Weight(int row, int tap, int64_t part, FloatVector& weight) const {
    weight = *reinterpret_cast<const UnalignedFloatVector*>(
        call.weights + (row * kTaps + tap) * kBlockColumns + part * kSimdWidth);
  }
  NNEFC_SIMD_INLINE void Finish(const Sums& sums, int64_t pixel) const {
    maker.template Store<false, kIsLimited>(sums, out + pixel * out_stride);
  }

  // Adds an input column to the sums, as column kTap of each.
  template <int... kTap, typename... To>
  NNEFC_SIMD_INLINE void AddColumn(int64_t seen, To&... sums) const {
    const int64_t column = seen - call.before;
    if (column < 0 || column >= call.inputs) return;
#pragma GCC unroll 3
    for (int row = 0; row < kTaps; ++row) {
#pragma GCC unroll 2
      for (int64_t part = 0; part < kVectorsPerBlock; ++part) {
        FloatVector numbers;
        Load(row, column, part, numbers);
        const auto add = [&](Sums& to, int tap) NNEFC_SIMD_INLINE {
          FloatVector weight;
          Weight(row, tap, part, weight);
          to[part] += numbers * weight;
        };
        (add(sums, kTap), ...);
      }
    }
  }

  static NNEFC_SIMD_INLINE void Clear(Sums& sums) {
#pragma GCC unroll 2
    for (int64_t part = 0; part < kVectorsPerBlock; ++part) sums[part] = FloatVector{};
  }

  NNEFC_SIMD_INLINE void RunEach(int64_t results) const {
    Sums a = {}, b = {}, c = {};
    const auto step = [&](Sums& last, Sums& middle, Sums& first, int64_t seen) NNEFC_SIMD_INLINE {
      Clear(first);
      AddColumn<2, 1, 0>(seen, last, middle, first);
      if (seen >= 2) Finish(last, seen - 2);
    };
    int64_t seen = 0;
    for (; seen + 2 < results; seen += kTaps) {
      step(a, b, c, seen);
      step(b, c, a, seen + 1);
      step(c, a, b, seen + 2);
    }
    // The last one or two columns, and the two columns after the results.
    const int64_t end = results + 2;
    if (seen < end) step(a, b, c, seen++);
    if (seen < end) step(b, c, a, seen++);
    if (seen < end) step(c, a, b, seen++);
    if (seen < end) step(a, b, c, seen);
  }

  NNEFC_SIMD_INLINE void RunEverySecond(int64_t results) const {
    Sums a = {}, b = {};
    AddColumn<0>(0, a);
    const auto step = [&](Sums& last, Sums& next, int64_t pixel) NNEFC_SIMD_INLINE {
      AddColumn<1>(2 * pixel + 1, last);
      Clear(next);
      AddColumn<2, 0>(2 * pixel + 2, last, next);
      Finish(last, pixel);
    };
    int64_t pixel = 0;
    for (; pixel + 1 < results; pixel += 2) {
      step(a, b, pixel);
      step(b, a, pixel + 1);
    }
    if (pixel < results) step(a, b, pixel);
  }
};

template <bool kHasZero, bool kIsLimited>
NNEFC_SIMD_INLINE inline void RunDepthwiseRow(const QuantizedDepthwiseRow& row,
                                              const RequantizedResults& results) {
  Requantizer maker;
  maker.Make(results);
  const DepthwiseRow<kHasZero, kIsLimited, Requantizer> run = {row, maker, results.out, results.stride};
  row.stride == 1 ? run.RunEach(results.pixels) : run.RunEverySecond(results.pixels);
}

template <bool kHasZero>
NNEFC_SIMD_INLINE inline void SumDepthwiseRow(const QuantizedDepthwiseRow& row, int64_t pixels,
                                              int32_t* sums) {
  const SumStore store;
  const DepthwiseRow<kHasZero, false, SumStore> run = {row, store, reinterpret_cast<uint8_t*>(sums),
                                                       kBlockColumns * int64_t{sizeof(int32_t)}};
  row.stride == 1 ? run.RunEach(pixels) : run.RunEverySecond(pixels);
}

}  // namespace

void WidenToInt16(const WidenedValues<int16_t>& codes) {
  RunSimd([&]() NNEFC_SIMD_INLINE { WidenRows(codes); });
}

void WidenToFloats(const WidenedValues<float>& codes) {
  RunSimd([&]() NNEFC_SIMD_INLINE { WidenRows(codes); });
}

void RunInt8Dot2Microkernel(int64_t pixels, const Int8Dot2Tile& tile) {
  kSumTiles<int8_t>[static_cast<size_t>(pixels - 1)](tile);
}

void RunInt16Dot2Microkernel(int64_t pixels, const Int16Dot2Tile& tile) {
  kSumTiles<int16_t>[static_cast<size_t>(pixels - 1)](tile);
}

void RunQuantizedDepthwise(const QuantizedDepthwise& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const QuantizedDepthwise call = given;  // local copy, to exclude aliasing
    constexpr int kAtOnce = 4;
    int64_t pixel = 0;
    for (; pixel + kAtOnce <= call.count; pixel += kAtOnce) DepthwisePixels<kAtOnce>(call, pixel);
    for (; pixel < call.count; ++pixel) DepthwisePixels<1>(call, pixel);
  });
}

void StoreRequantized(const RequantizedResults& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const RequantizedResults call = given;  // local copy, to exclude aliasing
    if (call.has_others) {
      StoreRequantizedTile<true, true>(call);
    } else if (call.is_limited) {
      StoreRequantizedTile<false, true>(call);
    } else {
      StoreRequantizedTile<false, false>(call);
    }
  });
}

void StoreQuantizedDepthwise(const QuantizedDepthwiseRow& given_row, const RequantizedResults& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const QuantizedDepthwiseRow row = given_row;  // local copies, to exclude aliasing
    const RequantizedResults results = given;
    if (row.zeros != nullptr) {
      RunDepthwiseRow<true, true>(row, results);
    } else if (results.is_limited) {
      RunDepthwiseRow<false, true>(row, results);
    } else {
      RunDepthwiseRow<false, false>(row, results);
    }
  });
}

void SumQuantizedDepthwise(const QuantizedDepthwiseRow& given, int64_t pixels, int32_t* sums) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const QuantizedDepthwiseRow row = given;  // local copy, to exclude aliasing
    row.zeros != nullptr ? SumDepthwiseRow<true>(row, pixels, sums)
                         : SumDepthwiseRow<false>(row, pixels, sums);
  });
}

void StoreDequantized(const DequantizedResults& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const DequantizedResults call = given;  // local copy, to exclude aliasing
    DispatchLimits(call.limits, [&](const auto& limit) NNEFC_SIMD_INLINE {
      for (int64_t pixel = 0; pixel < call.pixels; ++pixel) {
        for (int64_t lane = 0; lane < kBlockColumns; lane += kSimdWidth) {
          const int64_t at = pixel * call.stride + lane;
          const Int32Vector sums =
              *reinterpret_cast<const UnalignedInt32Vector*>(call.sums + pixel * kBlockColumns + lane);
          FloatVector x = __builtin_convertvector(sums, FloatVector) *
                          *reinterpret_cast<const UnalignedFloatVector*>(call.scales + lane);
          if (call.bias != nullptr) x += *reinterpret_cast<const UnalignedFloatVector*>(call.bias + lane);
          if (call.start != nullptr) x += *reinterpret_cast<const UnalignedFloatVector*>(call.start + at);
          limit(x);
          *reinterpret_cast<UnalignedFloatVector*>(call.out + at) = x;
        }
      }
    });
  });
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

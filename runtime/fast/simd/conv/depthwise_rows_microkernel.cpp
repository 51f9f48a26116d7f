// Rows of a depthwise convolution with a small square window.

#include "runtime/fast/simd/conv/depthwise_rows_microkernel.h"

#include <algorithm>
#include <type_traits>

#include "runtime/fast/simd/int8/requantize.h"
#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

// The result rows whose accumulators, with the weights of a small window, fit in the registers.
template <int kSize, int kStride, typename In>
constexpr int kMaxRows =
    kSimdWidth == kBlockColumns && kSize <= 3 && (kStride == 1 || sizeof(In) == 1) ? 4 : 2;

const UnalignedFloatVector& VectorAt(const float* from) {
  return *reinterpret_cast<const UnalignedFloatVector*>(from);
}

// Loads a vector of a pixel's channels; at most `channels` exist.
template <bool kIsWhole>
NNEFC_SIMD_INLINE inline void LoadPixelVector(const float* from, int64_t, int, FloatVector& x) {
  x = VectorAt(from);
}
template <bool kIsWhole>
NNEFC_SIMD_INLINE inline void LoadPixelVector(const uint8_t* from, int64_t channels, int zero,
                                              FloatVector& x) {
  Int32Vector words;
  if constexpr (kIsWhole) {
    LoadUint8(from, words);
  } else {
#if defined(NNEFC_X86_AVX512)
    const auto taken = static_cast<__mmask16>((1U << channels) - 1);
    words = reinterpret_cast<Int32Vector>(_mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(taken, from)));
#else
    uint8_t pixel[kBlockColumns] = {};
    std::copy_n(from, std::clamp<int64_t>(channels, 0, kSimdWidth), pixel);
    LoadUint8(pixel, words);
#endif
  }
  x = __builtin_convertvector(words - zero, FloatVector);
}

// Stores a vector of results; at most `channels` exist.
template <bool kIsWhole>
NNEFC_SIMD_INLINE inline void StoreVector(const FloatVector& x, int64_t channels, uint8_t* to) {
  Int32Vector words;
  RoundToWords(x, words);
#if defined(NNEFC_X86_AVX512)
  const __m128i bytes = _mm512_cvtusepi32_epi8(_mm512_max_epi32(reinterpret_cast<__m512i>(words), __m512i{}));
  if constexpr (kIsWhole) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
  } else {
    _mm_mask_storeu_epi8(to, static_cast<__mmask16>((1U << channels) - 1), bytes);
  }
#else
  const Int32Vector block[kVectorsPerBlock] = {words};
  uint8_t bytes[kBlockColumns];
  StoreSaturated(block, bytes);
  std::copy_n(bytes, kIsWhole ? kSimdWidth : std::min(channels, kSimdWidth), to);
#endif
}
template <bool kIsWhole>
NNEFC_SIMD_INLINE inline void StoreVector(const FloatVector& x, int64_t, float* to) {
  *reinterpret_cast<UnalignedFloatVector*>(to) = x;
}

// A window of kSize rows and columns that moves along kRows result rows, for a vector of channels.
template <int kSize, int kStride, int kRows, bool kIsWhole, typename In, typename Out>
struct MovingWindow {
  static constexpr int kInputs = (kRows - 1) * kStride + kSize;
  // The results of a row that a column of the image belongs to.
  static constexpr int kOpen = (kSize + kStride - 1) / kStride;

  const In* in[kInputs];
  FloatVector weights[kSize][kSize];
  FloatVector bias;
  FloatVector sums[kOpen][kRows] = {};

  NNEFC_SIMD_INLINE void Make(const DepthwiseRows<In, Out>& call, int64_t channel) {
    for (int i = 0; i < kInputs; ++i) in[i] = call.in[i] + channel;
#pragma GCC unroll 5
    for (int row = 0; row < kSize; ++row) {
#pragma GCC unroll 5
      for (int column = 0; column < kSize; ++column) {
        weights[row][column] = VectorAt(call.weights + (row * kSize + column) * kBlockColumns + channel);
        if constexpr (!std::is_same_v<In, float>) weights[row][column] *= call.scale;
      }
    }
    bias = call.bias != nullptr ? VectorAt(call.bias + channel) : FloatVector{};
  }

  // Begins the next result of each row.
  NNEFC_SIMD_INLINE void Advance() {
#pragma GCC unroll 5
    for (int open = kOpen - 1; open > 0; --open) {
#pragma GCC unroll 4
      for (int row = 0; row < kRows; ++row) sums[open][row] = sums[open - 1][row];
    }
#pragma GCC unroll 4
    for (int row = 0; row < kRows; ++row) sums[0][row] = bias;
  }

  // Adds the products of a column of pixels: column kStep of the window of the last result begun.
  template <int kStep>
  NNEFC_SIMD_INLINE void AddColumn(const DepthwiseRows<In, Out>& call, int64_t column, int64_t channels) {
    FloatVector pixels[kInputs];
#pragma GCC unroll 9
    for (int i = 0; i < kInputs; ++i)
      LoadPixelVector<kIsWhole>(in[i] + column * call.in_pixel, channels, call.zero, pixels[i]);
#pragma GCC unroll 5
    for (int row = 0; row < kSize; ++row) {
#pragma GCC unroll 5
      for (int open = 0; open < kOpen; ++open) {
        if (kStep + open * kStride >= kSize) continue;
#pragma GCC unroll 4
        for (int result = 0; result < kRows; ++result)
          sums[open][result] += pixels[result * kStride + row] * weights[row][kStep + open * kStride];
      }
    }
  }

  // Stores the result of each row that was begun first.
  NNEFC_SIMD_INLINE void Store(const DepthwiseRows<In, Out>& call, int64_t channel, int64_t result) const {
    DispatchLimits(call.limits, [&](const auto& limit) NNEFC_SIMD_INLINE {
      Out* out = call.out + result * call.out_pixel + channel;
#pragma GCC unroll 4
      for (int row = 0; row < kRows; ++row, out += call.out_row) {
        FloatVector x = sums[kOpen - 1][row];
        limit(x);
        if constexpr (!std::is_same_v<Out, float>) {
          const FloatVector code = x * VectorAt(call.factors + channel) + VectorAt(call.offsets + channel);
          x = FloatVector{} + 255.0F;
          Min(x, code);  // NaN is preserved
        }
        StoreVector<kIsWhole>(x, call.channels - channel, out);
      }
    });
  }

  NNEFC_SIMD_INLINE void Run(const DepthwiseRows<In, Out>& call, int64_t channel) {
    for (int64_t begun = 0; begun < call.columns + kOpen - 1; ++begun) {
      const int64_t column = begun * kStride - call.before;
      Advance();
      if (column >= 0 && column < call.in_columns) AddColumn<0>(call, column, call.channels - channel);
      if constexpr (kStride > 1 && kSize > 1) {
        if (column + 1 >= 0 && column + 1 < call.in_columns)
          AddColumn<1>(call, column + 1, call.channels - channel);
      }
      if (begun >= kOpen - 1) Store(call, channel, begun - (kOpen - 1));
    }
  }
};

template <int kSize, int kStride, int kRows, typename In, typename Out>
void RunWindow(const DepthwiseRows<In, Out>& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const DepthwiseRows<In, Out> call = given;  // local copy, to exclude aliasing
    // f32 results have the channels of padding, too.
    const int64_t channels = std::is_same_v<Out, float> ? kBlockColumns : call.channels;
    for (int64_t channel = 0; channel < channels; channel += kSimdWidth) {
      if (call.channels - channel >= kSimdWidth) {
        MovingWindow<kSize, kStride, kRows, true, In, Out> window;
        window.Make(call, channel);
        window.Run(call, channel);
      } else {
        MovingWindow<kSize, kStride, kRows, false, In, Out> window;
        window.Make(call, channel);
        window.Run(call, channel);
      }
    }
  });
}

template <int kSize, int kStride, typename In, typename Out>
void RunRows(const DepthwiseRows<In, Out>& given) {
  const In* in[kMaxDepthwiseInputRows];
  constexpr int kMaxCount = kMaxRows<kSize, kStride, In>;
  DepthwiseRows<In, Out> part = given;
  for (int64_t row = 0; row < given.count; row += part.count) {
    const int64_t left = given.count - row;
    part.count = left >= kMaxCount ? kMaxCount : left >= 2 ? 2 : 1;
    std::copy_n(given.in + row * kStride, (part.count - 1) * kStride + kSize, in);
    part.in = in;
    part.out = given.out + row * given.out_row;
    if (part.count == kMaxCount) {
      RunWindow<kSize, kStride, kMaxCount>(part);
    } else if (part.count == 2) {
      RunWindow<kSize, kStride, 2>(part);
    } else {
      RunWindow<kSize, kStride, 1>(part);
    }
  }
}

template <typename In, typename Out>
void Run(const DepthwiseRows<In, Out>& rows) {
  if (rows.size == 1) return rows.stride == 1 ? RunRows<1, 1>(rows) : RunRows<1, 2>(rows);
  if (rows.size == 3) return rows.stride == 1 ? RunRows<3, 1>(rows) : RunRows<3, 2>(rows);
  return rows.stride == 1 ? RunRows<5, 1>(rows) : RunRows<5, 2>(rows);
}

}  // namespace

int64_t DepthwiseRowsTogether(int64_t size) {
  return size <= 3 ? kMaxRows<3, 1, float> : kMaxRows<5, 1, float>;
}

void RunDepthwiseRows(const DepthwiseRows<float, float>& rows) {
  Run(rows);
}

void RunDequantizingDepthwiseRows(const DepthwiseRows<uint8_t, float>& rows) {
  Run(rows);
}

void RunQuantizedDepthwiseRows(const DepthwiseRows<uint8_t, uint8_t>& rows) {
  Run(rows);
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

// Depthwise convolution microkernel with accumulators in registers.

#include "runtime/fast/simd/conv/depthwise_microkernel.h"

#include <array>
#include <type_traits>
#include <utility>

#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

const UnalignedFloatVector& LoadUnaligned(const float* from) {
  return *reinterpret_cast<const UnalignedFloatVector*>(from);
}

template <int kPixels>
struct DepthwiseSums {
  static constexpr int kParts = static_cast<int>(kVectorsPerBlock);
  FloatVector sums[kPixels][kParts];

  NNEFC_SIMD_INLINE void Start(const DepthwiseArguments& call) {
#pragma GCC unroll 16
    for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 2
      for (int p = 0; p < kParts; ++p) {
        sums[i][p] = call.bias != nullptr ? LoadUnaligned(call.bias + p * kSimdWidth) : FloatVector{};
        if (call.start != nullptr)
          sums[i][p] += LoadUnaligned(call.start + i * kBlockColumns + p * kSimdWidth);
      }
    }
  }

  // Adds a tap to the pixels selected by `seeing`, with inputs `in_pixel` apart.
  template <bool kAll, typename Distance>
  NNEFC_SIMD_INLINE void AddTap(unsigned seeing, const float* in, const Distance& in_pixel,
                                const float* weights) {
    FloatVector factors[kParts];
#pragma GCC unroll 2
    for (int p = 0; p < kParts; ++p) factors[p] = LoadUnaligned(weights + p * kSimdWidth);
#pragma GCC unroll 16
    for (int i = 0; i < kPixels; ++i) {
      if (!kAll && (seeing >> i & 1) == 0) continue;
#pragma GCC unroll 2
      for (int p = 0; p < kParts; ++p)
        sums[i][p] += LoadUnaligned(in + i * in_pixel + p * kSimdWidth) * factors[p];
    }
  }

  NNEFC_SIMD_INLINE void Store(const DepthwiseArguments& call) {
    DispatchLimits(call.limits, [&](const auto& limit) NNEFC_SIMD_INLINE {
#pragma GCC unroll 16
      for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 2
        for (int p = 0; p < kParts; ++p) {
          limit(sums[i][p]);
          *reinterpret_cast<UnalignedFloatVector*>(call.out + i * kBlockColumns + p * kSimdWidth) =
              sums[i][p];
        }
      }
    });
  }
};

template <int kPixels, typename Distance>
NNEFC_SIMD_INLINE inline void DepthwiseTile(const DepthwiseArguments& call, const Distance& in_pixel) {
  constexpr unsigned kAll = (1U << kPixels) - 1;
  DepthwiseSums<kPixels> tile;
  tile.Start(call);
  for (int64_t slice = 0; slice < call.slices; ++slice) {
    for (int64_t row = 0; row < call.rows; ++row) {
      const float* in = call.in + slice * call.in_slice + row * call.in_row;
      const float* weights = call.weights + slice * call.weights_slice + row * call.weights_row;
      for (int64_t column = 0; column < call.columns; ++column) {
        if (call.seeing[column] == kAll) {
          tile.template AddTap<true>(kAll, in, in_pixel, weights);
        } else {
          tile.template AddTap<false>(call.seeing[column], in, in_pixel, weights);
        }
        in += call.in_column;
        weights += kBlockColumns;
      }
    }
  }
  tile.Store(call);
}

using DepthwiseFunction = void (*)(const DepthwiseArguments&);

// Strides 1 and 2 are compile-time constants; 0 means any other.
template <int kPixels, int kStride>
void CallDepthwiseTile(const DepthwiseArguments& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const DepthwiseArguments call = given;  // local copy, to exclude aliasing
    if constexpr (kStride > 0) {
      DepthwiseTile<kPixels>(call, std::integral_constant<int64_t, kStride * kBlockColumns>());
    } else {
      DepthwiseTile<kPixels>(call, call.in_pixel);
    }
  });
}

template <int kStride>
constexpr auto kByPixels = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<DepthwiseFunction, kTileRows>{
      CallDepthwiseTile<static_cast<int>(kIndex) + 1, kStride>...};
}(std::make_index_sequence<kTileRows>());

}  // namespace

void RunDepthwiseMicrokernel(int64_t pixels, const DepthwiseArguments& call) {
  const auto& functions = call.in_pixel == kBlockColumns       ? kByPixels<1>
                          : call.in_pixel == 2 * kBlockColumns ? kByPixels<2>
                                                               : kByPixels<0>;
  functions[static_cast<size_t>(pixels - 1)](call);
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

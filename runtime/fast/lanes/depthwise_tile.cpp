#include "runtime/fast/lanes/depthwise_tile.h"

#include <array>
#include <type_traits>
#include <utility>

#include "runtime/fast/lanes/lane_math.h"

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

namespace {

const Lanes& LanesAt(const float* from) {
  return *reinterpret_cast<const Lanes*>(from);
}

template <int kPixels>
struct DepthwiseSums {
  static constexpr int kParts = static_cast<int>(kLanesOfBlock);
  LaneFloats sums[kPixels][kParts];

  NNEFC_IN_LANES void Start(const DepthwiseCall& call) {
#pragma GCC unroll 16
    for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 2
      for (int p = 0; p < kParts; ++p) {
        sums[i][p] = call.bias != nullptr ? LanesAt(call.bias + p * kLanes) : LaneFloats{};
        if (call.start != nullptr) sums[i][p] += LanesAt(call.start + i * kBlockColumns + p * kLanes);
      }
    }
  }

  // Adds a tap to the pixels selected by `seeing`, with inputs `in_pixel` apart.
  template <bool kAll, typename Distance>
  NNEFC_IN_LANES void AddTap(unsigned seeing, const float* in, const Distance& in_pixel,
                             const float* weights) {
    LaneFloats factors[kParts];
#pragma GCC unroll 2
    for (int p = 0; p < kParts; ++p) factors[p] = LanesAt(weights + p * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kPixels; ++i) {
      if (!kAll && (seeing >> i & 1) == 0) continue;
#pragma GCC unroll 2
      for (int p = 0; p < kParts; ++p) sums[i][p] += LanesAt(in + i * in_pixel + p * kLanes) * factors[p];
    }
  }

  NNEFC_IN_LANES void Store(const DepthwiseCall& call) {
    WithLimits(call.limits, [&](const auto& limit) NNEFC_IN_LANES {
#pragma GCC unroll 16
      for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 2
        for (int p = 0; p < kParts; ++p) {
          limit(sums[i][p]);
          *reinterpret_cast<Lanes*>(call.out + i * kBlockColumns + p * kLanes) = sums[i][p];
        }
      }
    });
  }
};

template <int kPixels, typename Distance>
NNEFC_IN_LANES inline void DepthwiseTile(const DepthwiseCall& call, const Distance& in_pixel) {
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

using DepthwiseFunction = void (*)(const DepthwiseCall&);

// Strides 1 and 2 are compile-time constants; 0 means any other.
template <int kPixels, int kStride>
void CallDepthwiseTile(const DepthwiseCall& given) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const DepthwiseCall call = given;  // local copy, to exclude aliasing
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

void RunDepthwiseTile(int64_t pixels, const DepthwiseCall& call) {
  const auto& functions = call.in_pixel == kBlockColumns       ? kByPixels<1>
                          : call.in_pixel == 2 * kBlockColumns ? kByPixels<2>
                                                               : kByPixels<0>;
  functions[static_cast<size_t>(pixels - 1)](call);
}

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE

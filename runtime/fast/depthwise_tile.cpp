#include "runtime/fast/depthwise_tile.h"

#include <array>
#include <utility>

#include "runtime/fast/dots.h"
#include "runtime/fast/lane_math.h"

namespace nnefc::runtime {

namespace {

const Lanes& LanesAt(const float* from) {
  return *reinterpret_cast<const Lanes*>(from);
}

template <int kPixels>
struct DepthwiseSums {
  LaneSums sums[kPixels];

  NNEFC_IN_LANES void Start(const DepthwiseCall& call) {
#pragma GCC unroll 16
    for (int i = 0; i < kPixels; ++i) {
      sums[i] = call.bias != nullptr ? LanesAt(call.bias) : LaneSums{};
      if (call.start != nullptr) sums[i] += LanesAt(call.start + i * kBlockColumns);
    }
  }

  template <int kStride>
  NNEFC_IN_LANES void AddTap(const float* in, const float* weights) {
    const LaneSums weight = LanesAt(weights);
#pragma GCC unroll 16
    for (int i = 0; i < kPixels; ++i) sums[i] += LanesAt(in + i * kStride * kBlockColumns) * weight;
  }

  template <int kStride>
  NNEFC_IN_LANES void AddTapOf(unsigned seeing, const float* in, const float* weights) {
    const LaneSums weight = LanesAt(weights);
#pragma GCC unroll 16
    for (int i = 0; i < kPixels; ++i) {
      if ((seeing >> i & 1) != 0) sums[i] += LanesAt(in + i * kStride * kBlockColumns) * weight;
    }
  }

  NNEFC_IN_LANES void Store(const DepthwiseCall& call) {
    WithLimits(call.limits, [&](const auto& limit) NNEFC_IN_LANES {
#pragma GCC unroll 16
      for (int i = 0; i < kPixels; ++i) {
        limit(sums[i]);
        *reinterpret_cast<Lanes*>(call.out + i * kBlockColumns) = sums[i];
      }
    });
  }
};

template <int kPixels, int kStride>
NNEFC_IN_LANES inline void DepthwiseTile(const DepthwiseCall& call) {
  constexpr unsigned kAll = (1U << kPixels) - 1;
  DepthwiseSums<kPixels> tile;
  tile.Start(call);
  for (int64_t row = 0; row < call.rows; ++row) {
    const float* in = call.in + row * call.in_row;
    const float* weights = call.weights + row * call.weights_row;
    for (int64_t column = 0; column < call.columns; ++column) {
      if (call.seeing[column] == kAll) {
        tile.template AddTap<kStride>(in, weights);
      } else {
        tile.template AddTapOf<kStride>(call.seeing[column], in, weights);
      }
      in += call.in_column;
      weights += kBlockColumns;
    }
  }
  tile.Store(call);
}

using DepthwiseFunction = void (*)(const DepthwiseCall&);

template <int kPixels, int kStride>
void CallDepthwiseTile(const DepthwiseCall& given) {
  const DepthwiseCall call = given;  // which what is written cannot change
  RunInLanes([&]() NNEFC_IN_LANES { DepthwiseTile<kPixels, kStride>(call); });
}

template <int kStride>
constexpr auto kByPixels = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<DepthwiseFunction, kTilePixels>{
      CallDepthwiseTile<static_cast<int>(kIndex) + 1, kStride>...};
}(std::make_index_sequence<kTilePixels>());

}  // namespace

void RunDepthwiseTile(int64_t pixels, int64_t stride, const DepthwiseCall& call) {
  (stride == 1 ? kByPixels<1> : kByPixels<2>)[static_cast<size_t>(pixels - 1)](call);
}

}  // namespace nnefc::runtime

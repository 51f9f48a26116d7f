// Grouped convolution microkernel with accumulators in registers.

#include "runtime/fast/simd/conv/grouped_convolution_microkernel.h"

#include <array>
#include <utility>

#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

const UnalignedFloatVector& LoadGrouped(const float* from) {
  return *reinterpret_cast<const UnalignedFloatVector*>(from);
}

// Broadcasts lane `k` of each group of `kWidth` lanes within the group.
template <int kWidth>
NNEFC_SIMD_INLINE inline void SpreadInGroups(FloatVector& x, int k) {
  IndexVector order;
  SetToIota(order);
  Permute(x, (order & ~(kWidth - 1)) + k, x);
}

template <int kPixels, int kStride>
struct GroupedSums {
  static constexpr int kColumns = static_cast<int>(kGroupedColumns);
  static constexpr int kInputs = (kPixels - 1) * kStride + kColumns;
  FloatVector sums[kPixels];

  NNEFC_SIMD_INLINE void Start(const GroupedArguments& call) {
#pragma GCC unroll 16
    for (int p = 0; p < kPixels; ++p) {
      sums[p] = call.bias != nullptr ? LoadGrouped(call.bias) : FloatVector{};
      if (call.start != nullptr) sums[p] += LoadGrouped(call.start + p * kBlockColumns);
    }
  }

  // Adds an input channel for each output; value(x, pixel) loads the input of a pixel. The branches cost less
  // than separate loops for interior tiles.
  template <typename Value>
  NNEFC_SIMD_INLINE void AddTerm(uint32_t inside, const float* weights, const Value& value) {
    FloatVector factors[kColumns];
#pragma GCC unroll 3
    for (int c = 0; c < kColumns; ++c) factors[c] = LoadGrouped(weights + c * kSimdWidth);
#pragma GCC unroll 32
    for (int i = 0; i < kInputs; ++i) {
      if ((inside >> i & 1) == 0) continue;
      FloatVector x;
      value(x, i);
#pragma GCC unroll 3
      for (int c = 0; c < kColumns; ++c) {
        const int place = i - c;
        if (place < 0 || place % kStride != 0 || place / kStride >= kPixels) continue;
        sums[place / kStride] += x * factors[c];
      }
    }
  }

  NNEFC_SIMD_INLINE void Store(const GroupedArguments& call) {
    DispatchLimits(call.limits, [&](const auto& limit) NNEFC_SIMD_INLINE {
#pragma GCC unroll 16
      for (int p = 0; p < kPixels; ++p) {
        limit(sums[p]);
        *reinterpret_cast<UnalignedFloatVector*>(call.out + p * kBlockColumns) = sums[p];
      }
    });
  }
};

// `kWidth`: the width of groups narrower than a register, otherwise 0.
template <int kWidth, int kPixels, int kStride>
NNEFC_SIMD_INLINE inline void AddRows(GroupedSums<kPixels, kStride>& tile, const GroupedArguments& call) {
  constexpr int64_t kTermWeights = kGroupedColumns * kSimdWidth;
  constexpr int64_t kTermUnroll = kWidth == 0 ? kSimdWidth : kWidth;
  const float* weights = call.weights;
  for (int64_t row = 0; row < call.rows; ++row) {
    for (int64_t term = 0; term < call.terms; term += kTermUnroll) {
      const int64_t channel = call.first + term;
      const float* const in =
          call.in + row * call.in_row + channel / kBlockColumns * call.in_block + channel % kBlockColumns;
      if constexpr (kWidth == 0) {
        for (int64_t k = 0; k < kSimdWidth; ++k, weights += kTermWeights) {
          tile.AddTerm(call.inside, weights, [&](FloatVector& x, int pixel) NNEFC_SIMD_INLINE {
            Broadcast(in + pixel * kBlockColumns + k, x);
          });
        }
      } else {
#pragma GCC unroll 8
        for (int k = 0; k < kWidth; ++k, weights += kTermWeights) {
          tile.AddTerm(call.inside, weights, [&](FloatVector& x, int pixel) NNEFC_SIMD_INLINE {
            x = LoadGrouped(in + pixel * kBlockColumns);
            SpreadInGroups<kWidth>(x, k);
          });
        }
      }
    }
  }
}

template <int kWidth, int kPixels, int kStride>
NNEFC_SIMD_INLINE inline void GroupedTile(const GroupedArguments& call) {
  GroupedSums<kPixels, kStride> tile;
  tile.Start(call);
  AddRows<kWidth>(tile, call);
  tile.Store(call);
}

using GroupedFunction = void (*)(const GroupedArguments&);

template <int kWidth, int kPixels, int kStride>
void CallGroupedTile(const GroupedArguments& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const GroupedArguments call = given;  // local copy, to exclude aliasing
    GroupedTile<kWidth, kPixels, kStride>(call);
  });
}

// One instance per pixel count.
template <int kWidth, int kStride>
constexpr auto kGroupedTiles = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<GroupedFunction, kGroupedPixels>{
      CallGroupedTile<kWidth, static_cast<int>(kIndex) + 1, kStride>...};
}(std::make_index_sequence<kGroupedPixels>());

// Groups that fill vectors need no permutation.
template <int kChannels>
void RunGroupedTileOf(int64_t pixels, int64_t stride, const GroupedArguments& call) {
  constexpr int kWidth = kChannels < kSimdWidth ? kChannels : 0;
  (stride == 1 ? kGroupedTiles<kWidth, 1> : kGroupedTiles<kWidth, 2>)[static_cast<size_t>(pixels - 1)](call);
}

}  // namespace

void RunGroupedMicrokernel(GroupWidth width, int64_t pixels, int64_t stride, const GroupedArguments& call) {
  switch (width) {
    case GroupWidth::kRegisters:
      return RunGroupedTileOf<0>(pixels, stride, call);
    case GroupWidth::kFour:
      return RunGroupedTileOf<4>(pixels, stride, call);
    case GroupWidth::kEight:
      return RunGroupedTileOf<8>(pixels, stride, call);
  }
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

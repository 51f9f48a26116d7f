#include "runtime/fast/lanes/grouped_tile.h"

#include <array>
#include <utility>

#include "runtime/fast/lanes/lane_math.h"

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

namespace {

const Lanes& GroupedLanes(const float* from) {
  return *reinterpret_cast<const Lanes*>(from);
}

// Broadcasts lane `k` of each group of `kWidth` lanes within the group.
template <int kWidth>
NNEFC_IN_LANES inline void SpreadInGroups(LaneFloats& x, int k) {
  LaneOrder order;
  CountLanes(order);
  ShuffleLanes(x, (order & ~(kWidth - 1)) + k, x);
}

template <int kPixels, int kStride>
struct GroupedSums {
  static constexpr int kColumns = static_cast<int>(kGroupedColumns);
  static constexpr int kInputs = (kPixels - 1) * kStride + kColumns;
  LaneFloats sums[kPixels];

  NNEFC_IN_LANES void Start(const GroupedCall& call) {
#pragma GCC unroll 16
    for (int p = 0; p < kPixels; ++p) {
      sums[p] = call.bias != nullptr ? GroupedLanes(call.bias) : LaneFloats{};
      if (call.start != nullptr) sums[p] += GroupedLanes(call.start + p * kBlockColumns);
    }
  }

  // Adds an input channel for each output; value(x, pixel) loads the input of a pixel. The branches cost less
  // than separate loops for interior tiles.
  template <typename Value>
  NNEFC_IN_LANES void AddTerm(uint32_t inside, const float* weights, const Value& value) {
    LaneFloats factors[kColumns];
#pragma GCC unroll 3
    for (int c = 0; c < kColumns; ++c) factors[c] = GroupedLanes(weights + c * kLanes);
#pragma GCC unroll 32
    for (int i = 0; i < kInputs; ++i) {
      if ((inside >> i & 1) == 0) continue;
      LaneFloats x;
      value(x, i);
#pragma GCC unroll 3
      for (int c = 0; c < kColumns; ++c) {
        const int place = i - c;
        if (place < 0 || place % kStride != 0 || place / kStride >= kPixels) continue;
        sums[place / kStride] += x * factors[c];
      }
    }
  }

  NNEFC_IN_LANES void Store(const GroupedCall& call) {
    WithLimits(call.limits, [&](const auto& limit) NNEFC_IN_LANES {
#pragma GCC unroll 16
      for (int p = 0; p < kPixels; ++p) {
        limit(sums[p]);
        *reinterpret_cast<Lanes*>(call.out + p * kBlockColumns) = sums[p];
      }
    });
  }
};

// `kWidth`: the width of groups narrower than a register, otherwise 0.
template <int kWidth, int kPixels, int kStride>
NNEFC_IN_LANES inline void AddRows(GroupedSums<kPixels, kStride>& tile, const GroupedCall& call) {
  constexpr int64_t kTermWeights = kGroupedColumns * kLanes;
  constexpr int64_t kTermsTogether = kWidth == 0 ? kLanes : kWidth;
  const float* weights = call.weights;
  for (int64_t row = 0; row < call.rows; ++row) {
    for (int64_t term = 0; term < call.terms; term += kTermsTogether) {
      const int64_t channel = call.first + term;
      const float* const in =
          call.in + row * call.in_row + channel / kBlockColumns * call.in_block + channel % kBlockColumns;
      if constexpr (kWidth == 0) {
        for (int64_t k = 0; k < kLanes; ++k, weights += kTermWeights) {
          tile.AddTerm(call.inside, weights, [&](LaneFloats& x, int pixel) NNEFC_IN_LANES {
            SpreadNumber(in + pixel * kBlockColumns + k, x);
          });
        }
      } else {
#pragma GCC unroll 8
        for (int k = 0; k < kWidth; ++k, weights += kTermWeights) {
          tile.AddTerm(call.inside, weights, [&](LaneFloats& x, int pixel) NNEFC_IN_LANES {
            x = GroupedLanes(in + pixel * kBlockColumns);
            SpreadInGroups<kWidth>(x, k);
          });
        }
      }
    }
  }
}

template <int kWidth, int kPixels, int kStride>
NNEFC_IN_LANES inline void GroupedTile(const GroupedCall& call) {
  GroupedSums<kPixels, kStride> tile;
  tile.Start(call);
  AddRows<kWidth>(tile, call);
  tile.Store(call);
}

using GroupedFunction = void (*)(const GroupedCall&);

template <int kWidth, int kPixels, int kStride>
void CallGroupedTile(const GroupedCall& given) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const GroupedCall call = given;  // local copy, to exclude aliasing
    GroupedTile<kWidth, kPixels, kStride>(call);
  });
}

// One instance per pixel count.
template <int kWidth, int kStride>
constexpr auto kGroupedTiles = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<GroupedFunction, kGroupedPixels>{
      CallGroupedTile<kWidth, static_cast<int>(kIndex) + 1, kStride>...};
}(std::make_index_sequence<kGroupedPixels>());

template <int kWidth>
void RunGroupedTileOf(int64_t pixels, int64_t stride, const GroupedCall& call) {
  (stride == 1 ? kGroupedTiles<kWidth, 1> : kGroupedTiles<kWidth, 2>)[static_cast<size_t>(pixels - 1)](call);
}

}  // namespace

void RunGroupedTile(GroupWidth width, int64_t pixels, int64_t stride, const GroupedCall& call) {
  switch (width) {
    case GroupWidth::kRegisters:
      return RunGroupedTileOf<0>(pixels, stride, call);
    case GroupWidth::kFour:
      return RunGroupedTileOf<4>(pixels, stride, call);
    case GroupWidth::kEight:  // full registers if they have 8 lanes
      return RunGroupedTileOf < kLanes == kNarrowLanes ? 0 : 8 > (pixels, stride, call);
  }
}

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE

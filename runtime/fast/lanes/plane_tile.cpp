#include "runtime/fast/lanes/plane_tile.h"

#include "runtime/fast/lanes/near_rows.h"

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

namespace {

// Number of pixel registers: enough independent sums to hide latency, few enough to leave room for the
// operands.
template <int kOutputs>
constexpr int PixelRegisters() {
  if (kLanes == kWideLanes) return kOutputs < 3 ? 8 : 6;
  return kOutputs == 1 ? 8 : kOutputs == 2 ? 4 : 3;
}

template <int kOutputs, int kRegisters, typename Limit>
NNEFC_IN_LANES inline void SumPlanes(const PlaneTile& tile, int64_t pixel, const Limit& limit) {
  LaneFloats sums[kOutputs][kRegisters];
  float* const out = tile.out + pixel;
#pragma GCC unroll 4
  for (int o = 0; o < kOutputs; ++o) {
#pragma GCC unroll 8
    for (int i = 0; i < kRegisters; ++i)
      sums[o][i] = *reinterpret_cast<const Lanes*>(out + o * tile.out_plane + i * kLanes);
  }
  const float* weights = tile.weights;
  const float* channel = tile.in + pixel;
  for (int64_t c = 0; c < tile.channels; ++c, channel += tile.in_channel) {
    const float* row = channel;
    for (int64_t y = 0; y < tile.rows; ++y, row += tile.in_row) {
      const float* in = row;
      for (int64_t x = 0; x < tile.columns; ++x, in += tile.in_column, weights += kOutputs) {
        LaneFloats seen[kRegisters];
#pragma GCC unroll 8
        for (int i = 0; i < kRegisters; ++i) seen[i] = *reinterpret_cast<const Lanes*>(in + i * kLanes);
#pragma GCC unroll 4
        for (int o = 0; o < kOutputs; ++o) {
          LaneFloats weight;
          SpreadNumber(weights + o, weight);
#pragma GCC unroll 8
          for (int i = 0; i < kRegisters; ++i) AddProduct(sums[o][i], weight, seen[i]);
        }
      }
    }
  }
#pragma GCC unroll 4
  for (int o = 0; o < kOutputs; ++o) {
#pragma GCC unroll 8
    for (int i = 0; i < kRegisters; ++i) {
      limit(sums[o][i]);
      *reinterpret_cast<Lanes*>(out + o * tile.out_plane + i * kLanes) = sums[o][i];
    }
  }
}

template <int kOutputs>
void CallPlaneTile(const PlaneTile& given) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const PlaneTile tile = given;  // local copy, to exclude aliasing
    constexpr int kMost = PixelRegisters<kOutputs>();
    WithLimits(tile.limits, [&](const auto& limit) NNEFC_IN_LANES {
      int64_t pixel = 0;
      for (; pixel + kMost * kLanes <= tile.pixels; pixel += kMost * kLanes)
        SumPlanes<kOutputs, kMost>(tile, pixel, limit);
      for (; pixel + 2 * kLanes <= tile.pixels; pixel += 2 * kLanes)
        SumPlanes<kOutputs, 2>(tile, pixel, limit);
      for (; pixel < tile.pixels; pixel += kLanes) SumPlanes<kOutputs, 1>(tile, pixel, limit);
    });
  });
}

}  // namespace

void RunPlaneTile(int64_t outputs, const PlaneTile& tile) {
  switch (outputs) {
    case 1:
      return CallPlaneTile<1>(tile);
    case 2:
      return CallPlaneTile<2>(tile);
    case 3:
      return CallPlaneTile<3>(tile);
    default:
      return CallPlaneTile<4>(tile);
  }
}

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE

// Convolution microkernel for few outputs.

#include "runtime/fast/simd/conv/few_output_convolution_microkernel.h"

#include "runtime/fast/simd/row_addresses.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

// Number of pixel registers: enough independent sums to hide latency, few enough to leave room for the
// operands.
template <int kOutputs>
constexpr int PixelRegisters() {
  if (kSimdWidth == kSimdWidth512) return kOutputs < 3 ? 8 : 6;
  return kOutputs == 1 ? 8 : kOutputs == 2 ? 4 : 3;
}

template <int kOutputs, int kRegisters, typename Limit>
NNEFC_SIMD_INLINE inline void SumPlanes(const FewOutputTile& tile, int64_t pixel, const Limit& limit) {
  FloatVector sums[kOutputs][kRegisters];
  float* const out = tile.out + pixel;
#pragma GCC unroll 4
  for (int o = 0; o < kOutputs; ++o) {
#pragma GCC unroll 8
    for (int i = 0; i < kRegisters; ++i)
      sums[o][i] = *reinterpret_cast<const UnalignedFloatVector*>(out + o * tile.out_plane + i * kSimdWidth);
  }
  const float* weights = tile.weights;
  const float* channel = tile.in + pixel;
  for (int64_t c = 0; c < tile.channels; ++c, channel += tile.in_channel) {
    const float* row = channel;
    for (int64_t y = 0; y < tile.rows; ++y, row += tile.in_row) {
      const float* in = row;
      for (int64_t x = 0; x < tile.columns; ++x, in += tile.in_column, weights += kOutputs) {
        FloatVector seen[kRegisters];
#pragma GCC unroll 8
        for (int i = 0; i < kRegisters; ++i)
          seen[i] = *reinterpret_cast<const UnalignedFloatVector*>(in + i * kSimdWidth);
#pragma GCC unroll 4
        for (int o = 0; o < kOutputs; ++o) {
          FloatVector weight;
          Broadcast(weights + o, weight);
#pragma GCC unroll 8
          for (int i = 0; i < kRegisters; ++i) MultiplyAdd(sums[o][i], weight, seen[i]);
        }
      }
    }
  }
#pragma GCC unroll 4
  for (int o = 0; o < kOutputs; ++o) {
#pragma GCC unroll 8
    for (int i = 0; i < kRegisters; ++i) {
      limit(sums[o][i]);
      *reinterpret_cast<UnalignedFloatVector*>(out + o * tile.out_plane + i * kSimdWidth) = sums[o][i];
    }
  }
}

template <int kOutputs>
void CallPlaneTile(const FewOutputTile& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const FewOutputTile tile = given;  // local copy, to exclude aliasing
    constexpr int kMax = PixelRegisters<kOutputs>();
    DispatchLimits(tile.limits, [&](const auto& limit) NNEFC_SIMD_INLINE {
      int64_t pixel = 0;
      for (; pixel + kMax * kSimdWidth <= tile.pixels; pixel += kMax * kSimdWidth)
        SumPlanes<kOutputs, kMax>(tile, pixel, limit);
      for (; pixel + 2 * kSimdWidth <= tile.pixels; pixel += 2 * kSimdWidth)
        SumPlanes<kOutputs, 2>(tile, pixel, limit);
      for (; pixel < tile.pixels; pixel += kSimdWidth) SumPlanes<kOutputs, 1>(tile, pixel, limit);
    });
  });
}

}  // namespace

void RunFewOutputMicrokernel(int64_t outputs, const FewOutputTile& tile) {
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

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

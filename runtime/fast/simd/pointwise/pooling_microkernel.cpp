// Max and average pooling of nChw16c images.

#include "runtime/fast/simd/pointwise/pooling_microkernel.h"

#include <limits>

#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

const UnalignedFloatVector& LoadPooled(const float* from) {
  return *reinterpret_cast<const UnalignedFloatVector*>(from);
}

struct VectorMaximum {
  static constexpr float kStart = -std::numeric_limits<float>::infinity();
  NNEFC_SIMD_INLINE static void Add(FloatVector& most, FloatVector x) {
    Max(x, most);
    most = x;
  }
  NNEFC_SIMD_INLINE static void Finish(FloatVector&, float) {}
};

struct VectorAverage {
  static constexpr float kStart = 0;
  NNEFC_SIMD_INLINE static void Add(FloatVector& sum, const FloatVector& x) { sum += x; }
  // sum / counted, correctly rounded, faster than a division (VectorQuotient).
  NNEFC_SIMD_INLINE static void Finish(FloatVector& sum, float counted) {
    if (counted == 0) {
      sum = FloatVector{};
      return;
    }
    const float inverse = 1.0f / counted;
    const FloatVector quotient = sum * inverse;
    const FloatVector rest = sum - quotient * counted;  // NaN for infinities
    sum = rest == rest ? quotient + rest * inverse : quotient;
  }
};

// Pools the channels starting at `lane` of a block.
template <typename Of, int kPixels>
NNEFC_SIMD_INLINE inline void PoolPixels(const PoolingTile& tile, int64_t lane) {
  FloatVector sums[kPixels];
#pragma GCC unroll 8
  for (int i = 0; i < kPixels; ++i) sums[i] = FloatVector{} + Of::kStart;
  for (int64_t slice = 0; slice < tile.slices; ++slice) {
    for (int64_t row = 0; row < tile.rows; ++row) {
      const float* in = tile.in + slice * tile.in_slice + row * tile.in_row + lane;
      for (int64_t column = 0; column < tile.columns; ++column, in += tile.in_column) {
#pragma GCC unroll 8
        for (int i = 0; i < kPixels; ++i) {
          const FloatVector x = LoadPooled(in + i * tile.in_pixel);
          Of::Add(sums[i], x);
        }
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kPixels; ++i) {
    Of::Finish(sums[i], tile.counted);
    if (tile.channels < kBlockColumns) Select(sums[i], tile.channels - lane, 0);
    *reinterpret_cast<UnalignedFloatVector*>(tile.out + i * kBlockColumns + lane) = sums[i];
  }
}

template <typename Of, int kPixels>
void CallPoolTile(const PoolingTile& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const PoolingTile tile = given;  // local copy, to exclude aliasing
    for (int64_t line = 0; line < tile.next_lines * kPixels; ++line)
      __builtin_prefetch(tile.next + line * kBlockColumns);
    for (int64_t lane = 0; lane < kBlockColumns; lane += kSimdWidth) PoolPixels<Of, kPixels>(tile, lane);
  });
}

template <typename Of>
void CallPoolTileOf(int64_t pixels, const PoolingTile& tile) {
  if (pixels == kPooledPixels8) return CallPoolTile<Of, kPooledPixels8>(tile);
  if (pixels == kPooledPixels4) return CallPoolTile<Of, kPooledPixels4>(tile);
  CallPoolTile<Of, 1>(tile);
}

}  // namespace

void RunPoolingMicrokernel(PoolingReduction pooled, int64_t pixels, const PoolingTile& tile) {
  pooled == PoolingReduction::kMaximum ? CallPoolTileOf<VectorMaximum>(pixels, tile)
                                       : CallPoolTileOf<VectorAverage>(pixels, tile);
}

void AveragePixels(const float* in, int64_t pixels, float* out) {
  constexpr int kSums = 8;  // independent partial sums
  RunSimd([&]() NNEFC_SIMD_INLINE {
    for (int64_t lane = 0; lane < kBlockColumns; lane += kSimdWidth) {
      FloatVector sums[kSums] = {};
      int64_t pixel = 0;
      for (; pixel + kSums <= pixels; pixel += kSums) {
#pragma GCC unroll 8
        for (int i = 0; i < kSums; ++i) sums[i] += LoadPooled(in + (pixel + i) * kBlockColumns + lane);
      }
      for (; pixel < pixels; ++pixel) sums[0] += LoadPooled(in + pixel * kBlockColumns + lane);
#pragma GCC unroll 8
      for (int i = 1; i < kSums; ++i) sums[0] += sums[i];
      *reinterpret_cast<UnalignedFloatVector*>(out + lane) = sums[0] / static_cast<float>(pixels);
    }
  });
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

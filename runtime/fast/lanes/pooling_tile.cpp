#include "runtime/fast/lanes/pooling_tile.h"

#include <limits>

#include "runtime/fast/lanes/lane_math.h"

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

namespace {

const Lanes& PooledLanes(const float* from) {
  return *reinterpret_cast<const Lanes*>(from);
}

struct MaximumOfLanes {
  static constexpr float kStart = -std::numeric_limits<float>::infinity();
  NNEFC_IN_LANES static void Add(LaneFloats& most, LaneFloats x) {
    LimitFromBelow(x, most);
    most = x;
  }
  NNEFC_IN_LANES static void Finish(LaneFloats&, float) {}
};

struct MeanOfLanes {
  static constexpr float kStart = 0;
  NNEFC_IN_LANES static void Add(LaneFloats& sum, const LaneFloats& x) { sum += x; }
  // sum / counted, correctly rounded, faster than a division (VectorQuotient).
  NNEFC_IN_LANES static void Finish(LaneFloats& sum, float counted) {
    if (counted == 0) {
      sum = LaneFloats{};
      return;
    }
    const float inverse = 1.0f / counted;
    const LaneFloats quotient = sum * inverse;
    const LaneFloats rest = sum - quotient * counted;  // NaN for infinities
    sum = rest == rest ? quotient + rest * inverse : quotient;
  }
};

// Pools the channels starting at `lane` of a block.
template <typename Of, int kPixels>
NNEFC_IN_LANES inline void PoolPixels(const PoolTile& tile, int64_t lane) {
  LaneFloats sums[kPixels];
#pragma GCC unroll 8
  for (int i = 0; i < kPixels; ++i) sums[i] = LaneFloats{} + Of::kStart;
  for (int64_t slice = 0; slice < tile.slices; ++slice) {
    for (int64_t row = 0; row < tile.rows; ++row) {
      const float* in = tile.in + slice * tile.in_slice + row * tile.in_row + lane;
      for (int64_t column = 0; column < tile.columns; ++column, in += tile.in_column) {
#pragma GCC unroll 8
        for (int i = 0; i < kPixels; ++i) {
          const LaneFloats x = PooledLanes(in + i * tile.in_pixel);
          Of::Add(sums[i], x);
        }
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kPixels; ++i) {
    Of::Finish(sums[i], tile.counted);
    if (tile.channels < kBlockColumns) KeepLanes(sums[i], tile.channels - lane, 0);
    *reinterpret_cast<Lanes*>(tile.out + i * kBlockColumns + lane) = sums[i];
  }
}

template <typename Of, int kPixels>
void CallPoolTile(const PoolTile& given) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const PoolTile tile = given;  // local copy, to exclude aliasing
    for (int64_t line = 0; line < tile.next_lines * kPixels; ++line)
      __builtin_prefetch(tile.next + line * kBlockColumns);
    for (int64_t lane = 0; lane < kBlockColumns; lane += kLanes) PoolPixels<Of, kPixels>(tile, lane);
  });
}

template <typename Of>
void CallPoolTileOf(int64_t pixels, const PoolTile& tile) {
  if (pixels == kManyPooled) return CallPoolTile<Of, kManyPooled>(tile);
  if (pixels == kSomePooled) return CallPoolTile<Of, kSomePooled>(tile);
  CallPoolTile<Of, 1>(tile);
}

}  // namespace

void RunPoolTile(PooledNumber pooled, int64_t pixels, const PoolTile& tile) {
  pooled == PooledNumber::kMaximum ? CallPoolTileOf<MaximumOfLanes>(pixels, tile)
                                   : CallPoolTileOf<MeanOfLanes>(pixels, tile);
}

void MeanOfPixels(const float* in, int64_t pixels, float* out) {
  constexpr int kSums = 8;  // independent partial sums
  RunInLanes([&]() NNEFC_IN_LANES {
    for (int64_t lane = 0; lane < kBlockColumns; lane += kLanes) {
      LaneFloats sums[kSums] = {};
      int64_t pixel = 0;
      for (; pixel + kSums <= pixels; pixel += kSums) {
#pragma GCC unroll 8
        for (int i = 0; i < kSums; ++i) sums[i] += PooledLanes(in + (pixel + i) * kBlockColumns + lane);
      }
      for (; pixel < pixels; ++pixel) sums[0] += PooledLanes(in + pixel * kBlockColumns + lane);
#pragma GCC unroll 8
      for (int i = 1; i < kSums; ++i) sums[0] += sums[i];
      *reinterpret_cast<Lanes*>(out + lane) = sums[0] / static_cast<float>(pixels);
    }
  });
}

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE

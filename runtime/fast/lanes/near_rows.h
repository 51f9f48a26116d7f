// Addresses of rows for tiles in registers, for files that are compiled for each kind of registers (lanes.h).
#pragma once

#include "runtime/fast/lanes/lane_math.h"

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

// Tiles of narrow registers multiply twelve numbers by each two that they load: what decides how fast they
// are is how many instructions a core fetches, which may have to be shared with another thread. Distances
// from a pointer that fit in a byte keep them short, some terms of a loop at a time, and no sum moves to
// another register. Wide tiles have fewer instructions for as many products, and their distances count
// registers.
inline constexpr bool kShortInstructions = kLanes == kNarrowLanes;
inline constexpr int64_t kTermsTogether = kShortInstructions ? 4 : 1;

// sum += x * y
NNEFC_IN_LANES inline void AddProduct(LaneFloats& sum, const LaneFloats& x, const LaneFloats& y) {
#if defined(NNEFC_NARROW_X86)
  asm("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(x), "x"(y));
#else
  sum += x * y;
#endif
}

// Rows of floats of which the same few terms are read at a time, in `kPlaces` places. `kStep`: from a row to
// the next; 0 where it is known when they are read, and where they are is left to the compiler.
template <int kRows, int kStep, int kPlaces = 1>
class NearRows {
 public:
  NNEFC_IN_LANES NearRows(const float* first, int64_t step = kStep, int64_t to_next_place = 0) {
#pragma GCC unroll 2
    for (int place = 0; place < kPlaces; ++place) {
#pragma GCC unroll 16
      for (int i = 0; i < kPointers; ++i)
        near_[place * kPointers + i] =
            first + place * to_next_place + (i * kNear + kMiddle) * (kStep == 0 ? step : kStep);
    }
    Address();
  }

  // Those of a place are behind those of the one before.
  NNEFC_IN_LANES const float* At(int index) const {
    const int row = index % kRows;
    return near_[index / kRows * kPointers + row / kNear] + (row % kNear - kMiddle) * kStep;
  }

  NNEFC_IN_LANES void Advance(int64_t terms) {
#pragma GCC unroll 16
    for (const float*& near : near_) near += terms;
    Address();
  }

 private:
  // Rows that bytes reach from a pointer in their middle.
  static constexpr int kBytes = kStep * static_cast<int>(sizeof(float));
  static constexpr int kReach = kStep == 0 ? 1 : 128 / kBytes + 112 / kBytes + 1;
  static constexpr int kNear = kStep == 0 ? 1 : kShortInstructions && kReach < kRows ? kReach : kRows;
  static constexpr int kMiddle = kShortInstructions ? kNear / 2 : 0;
  static constexpr int kPointers = (kRows + kNear - 1) / kNear;

  NNEFC_IN_LANES void Address() {
    if constexpr (kStep == 0 || !kShortInstructions) return;
#pragma GCC unroll 16
    for (const float*& near : near_) AddressFrom(near);
  }

  const float* near_[kPlaces * kPointers];
};

// Calls add(term, weights) for terms of rows, `kAtOnce` from where these are, `stride` weights for each;
// leaves rows and weights behind them.
template <int64_t kAtOnce, int64_t kStride, typename Rows, typename Add>
NNEFC_IN_LANES inline void AddTermsOf(Rows& rows, int64_t count, const float*& weights, const Add& add) {
  for (; count >= kAtOnce; count -= kAtOnce) {
    if constexpr (kShortInstructions) AddressFrom(weights);
#pragma GCC unroll 4
    for (int64_t i = 0; i < kAtOnce; ++i) add(i, weights + i * kStride);
    rows.Advance(kAtOnce);
    weights += kAtOnce * kStride;
  }
  for (; count > 0; --count, weights += kStride) {
    add(0, weights);
    rows.Advance(1);
  }
}

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE

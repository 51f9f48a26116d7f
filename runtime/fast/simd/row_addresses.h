// Row addressing for microkernels, in files compiled per vector width (simd/dispatch.h).
#pragma once

#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

// AVX2 microkernels execute twelve multiplications per two loads, so instruction fetch limits their speed,
// above all with hyper-threading. Short displacements (one byte) keep instructions small: several terms are
// processed per loop iteration, and accumulators stay in their registers. AVX-512 microkernels need fewer
// instructions per product, and their displacements are in units of vectors.
inline constexpr bool kShortInstructions = kSimdWidth == kSimdWidth256;
inline constexpr int64_t kTermUnroll = kShortInstructions ? 4 : 1;

// sum += x * y
NNEFC_SIMD_INLINE inline void MultiplyAdd(FloatVector& sum, const FloatVector& x, const FloatVector& y) {
#if defined(NNEFC_X86_AVX2)
  asm("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(x), "x"(y));
#else
  sum += x * y;
#endif
}

// Addresses of kPlaces groups of kRows rows of floats each, all read at the same offset (term). `kStep` is
// the distance between the rows of a group in floats, or 0 if it is only known at run time; the compiler then
// chooses the addressing.
template <int kRows, int kStep, int kPlaces = 1>
class RowAddresses {
 public:
  // `first` is the first row of the first group, and `to_next_place` the distance between groups in floats.
  NNEFC_SIMD_INLINE RowAddresses(const float* first, int64_t step = kStep, int64_t to_next_place = 0) {
#pragma GCC unroll 2
    for (int place = 0; place < kPlaces; ++place) {
#pragma GCC unroll 16
      for (int i = 0; i < kPointers; ++i)
        near_[place * kPointers + i] =
            first + place * to_next_place + (i * kNear + kMiddle) * (kStep == 0 ? step : kStep);
    }
    Address();
  }

  // Returns the address of row `index` at the current term. Rows are numbered through all groups.
  NNEFC_SIMD_INLINE const float* At(int index) const {
    const int row = index % kRows;
    return near_[index / kRows * kPointers + row / kNear] + (row % kNear - kMiddle) * kStep;
  }

  // Moves all addresses by `terms` floats.
  NNEFC_SIMD_INLINE void Advance(int64_t terms) {
#pragma GCC unroll 16
    for (const float*& near : near_) near += terms;
    Address();
  }

 private:
  // The number of rows reachable with one-byte displacements from a pointer in their middle.
  static constexpr int kBytes = kStep * static_cast<int>(sizeof(float));
  static constexpr int kReach = kStep == 0 ? 1 : 128 / kBytes + 112 / kBytes + 1;
  static constexpr int kNear = kStep == 0 ? 1 : kShortInstructions && kReach < kRows ? kReach : kRows;
  static constexpr int kMiddle = kShortInstructions ? kNear / 2 : 0;
  static constexpr int kPointers = (kRows + kNear - 1) / kNear;

  // Makes the compiler address relative to the current pointers (AddressFrom in simd/loop_math.h).
  NNEFC_SIMD_INLINE void Address() {
    if constexpr (kStep == 0 || !kShortInstructions) return;
#pragma GCC unroll 16
    for (const float*& near : near_) AddressFrom(near);
  }

  const float* near_[kPlaces * kPointers];
};

// Calls add(term, weights) for `count` terms, kAtOnce per iteration. `term` is the offset from the current
// address of `rows`, and `weights` points to the kStride weights of that term. Advances `rows` and `weights`
// by all terms.
template <int64_t kAtOnce, int64_t kStride, typename Rows, typename Add>
NNEFC_SIMD_INLINE inline void AccumulateTerms(Rows& rows, int64_t count, const float*& weights,
                                              const Add& add) {
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

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

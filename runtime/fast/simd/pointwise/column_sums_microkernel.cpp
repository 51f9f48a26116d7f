// Microkernel for weighted sums of nearby elements.

#include "runtime/fast/simd/pointwise/column_sums_microkernel.h"

#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

// Adds the weighted elements of one group.
NNEFC_SIMD_INLINE inline void SumGroup(const ColumnSums& call, int64_t group, FloatVector& sums) {
  const float* from = call.line + call.begins[group];
  const FloatVector x = *reinterpret_cast<const UnalignedFloatVector*>(from),
                    y = *reinterpret_cast<const UnalignedFloatVector*>(from + kSimdWidth);
  const int32_t* elements = call.elements + group * call.terms * kSimdWidth;
  const float* weights = call.weights + group * call.terms * kSimdWidth;
  sums = FloatVector{};
  for (int64_t term = 0; term < call.terms; ++term, elements += kSimdWidth, weights += kSimdWidth) {
    IndexVector order;
    __builtin_memcpy(&order, elements, sizeof(order));
    const FloatVector weight = *reinterpret_cast<const UnalignedFloatVector*>(weights);
    FloatVector picked;
    Permute(x, y, order, picked);
    const FloatVector sum = sums + picked * weight;
    sums = order >= 0 ? sum : sums;
  }
}

}  // namespace

void SumColumns(const ColumnSums& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const ColumnSums call = given;  // local copy, to exclude aliasing
    for (int64_t group = 0; group * kSimdWidth < call.columns; ++group) {
      FloatVector sums;
      SumGroup(call, group, sums);
      const int64_t first = group * kSimdWidth, count = call.columns - first;
      if (count >= kSimdWidth) {
        *reinterpret_cast<UnalignedFloatVector*>(call.out + first) = sums;
      } else {
        StoreFirst(sums, count, call.out + first);
      }
    }
  });
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

// Weighted sums of nearby elements of a row, as in resampling.
#pragma once

#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime::fast::simd {

// SimdWidth() results at a time, a group, are sums of elements of two vectors that begin at the same element.
struct ColumnSums {
  const float* line;      // readable for 2 * SimdWidth() elements from each begin
  const int32_t* begins;  // of the first vector of each group
  // SimdWidth() numbers for each group and term: the element relative to the begin, or -1 for none, and its
  // weight.
  const int32_t* elements;
  const float* weights;
  int64_t terms;
  int64_t columns;  // results; the last group may have fewer
  float* out;
};
NNEFC_SIMD_FUNCTION(SumColumns, void(const ColumnSums& sums));

}  // namespace nnefc::runtime::fast::simd

// Mean and variance, or norm, of a row in f32.
#pragma once

#include <optional>

#include "runtime/fast/lanes/lanes.h"

namespace nnefc::runtime {

// A mean in two parts, because subtracting it from a nearby number is exact.
struct LaneMoments {
  float mean, rest;
  double variance;
};

// Returns true for rows short enough for f32 sums.
inline bool FitsLanes(int64_t terms) {
  constexpr int64_t kLeastTerms = 16, kMostTerms = 4096;
  return HasLanes() && terms >= kLeastTerms && terms <= kMostTerms;
}

// Computes two passes: distances from the first element, then squared distances from the mean. Returns
// nothing if squares leave the f32 range. Requires FitsLanes.
NNEFC_LANE_FUNCTION(MomentsInLanes, std::optional<LaneMoments>(const float* x, int64_t terms));

// Rows divided by their norms: the root of the sum of squares, with `eps` added or as minimum. Requires
// FitsLanes.
struct NormalizedRows {
  const float* x;
  int64_t stride;  // row stride of x
  float* out;      // consecutive rows
  int64_t rows, terms;
  float eps;
  bool adds;
};
// Returns the number of leading rows computed, up to a row whose squares leave the f32 range.
NNEFC_LANE_FUNCTION(NormalizeInLanes, int64_t(const NormalizedRows& given));
// Returns the number of rows processed at once. If fewer are computed, this many require the fallback.
inline int64_t RowsOfNorms() {
  return LaneCount();
}

// Computes to = (x - mean) * factor.
NNEFC_LANE_FUNCTION(ShiftAndScaleInLanes,
                    void(const float* x, int64_t terms, const LaneMoments& moments, float factor, float* to));

}  // namespace nnefc::runtime

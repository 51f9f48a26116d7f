// The mean and the variance, or the norm, of the numbers of a row, in f32.
#pragma once

#include <optional>

#include "runtime/fast/lanes/lanes.h"

namespace nnefc::runtime {

// A mean in two parts, since what is taken from a number that is near it is exact.
struct LaneMoments {
  float mean, rest;
  double variance;
};

// Rows of so many terms are so short that sums of f32 lose nothing that counts.
inline bool FitsLanes(int64_t terms) {
  constexpr int64_t kLeastTerms = 16, kMostTerms = 4096;
  return HasLanes() && terms >= kLeastTerms && terms <= kMostTerms;
}

// In two passes: of the distances from the first element, and of the squares of those from the mean. Nothing
// where the squares leave the range of f32. Of rows that fit (FitsLanes).
NNEFC_LANE_FUNCTION(MomentsInLanes, std::optional<LaneMoments>(const float* x, int64_t terms));

// The sum of the squares; as above.
NNEFC_LANE_FUNCTION(SquaresInLanes, std::optional<float>(const float* x, int64_t terms));

// to = (x - mean) * factor
NNEFC_LANE_FUNCTION(ShiftAndScaleInLanes,
                    void(const float* x, int64_t terms, const LaneMoments& moments, float factor, float* to));

}  // namespace nnefc::runtime

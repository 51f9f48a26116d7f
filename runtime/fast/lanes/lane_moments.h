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

// Rows divided by their norms, the roots of the sums of their squares, to which `eps` is added or which are
// at least as large. Of rows that fit (FitsLanes).
struct NormalizedRows {
  const float* x;
  int64_t stride;  // of x
  float* out;      // rows behind one another
  int64_t rows, terms;
  float eps;
  bool adds;
};
// How many of the first rows are done: some before one whose squares leave the range of f32.
NNEFC_LANE_FUNCTION(NormalizeInLanes, int64_t(const NormalizedRows& given));
// Of these so many at once: where fewer are done, as many are to be done otherwise.
inline int64_t RowsOfNorms() {
  return LaneCount();
}

// to = (x - mean) * factor
NNEFC_LANE_FUNCTION(ShiftAndScaleInLanes,
                    void(const float* x, int64_t terms, const LaneMoments& moments, float factor, float* to));

}  // namespace nnefc::runtime

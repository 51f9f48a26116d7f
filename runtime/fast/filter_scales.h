#pragma once

// Constant filters as codes of 8 bits: scales of which all their numbers are multiples.

#include <optional>
#include <span>
#include <vector>

#include "compiler/support/tensor/tensor_value.h"

namespace nnefc::runtime {

// Finds the scale of channels, one after another: what it found is tried first on the next.
class ScaleFinder {
 public:
  // Of which all numbers are multiples by -128 to 127, but for what rounding to f32 leaves: the smallest one
  // that is the largest number by a whole one. 1 of zeros; nothing where the sum of so many products of codes
  // may not fit 32 bits, or a number is not finite.
  std::optional<float> Find(std::span<const float> numbers);

 private:
  std::optional<int> CodeByUnit(std::span<const float> numbers, double largest, int most) const;

  double unit_ = 0;  // the last scale; 0 at first
};

// By output channel, the first axis (of groups, then, the first two): the scale of a filter. Empty if a
// channel has none.
std::vector<float> FilterScales(const TensorValue& filter, bool grouped);
// By column of a matrix that is a constant factor on the right, or by row where its transpose is: the same.
std::vector<float> FactorScales(const TensorValue& matrix, bool transposed);

}  // namespace nnefc::runtime

#pragma once

// Constant filters as codes of 8 bits: scales of which all their numbers are multiples.

#include <optional>
#include <span>
#include <vector>

#include "compiler/support/tensor/tensor_value.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Finds the scale of channels, one after another: what it found is tried first on the next.
class ScaleFinder {
 public:
  // Of which all numbers are multiples by -128 to 127, but for what rounding to f32 leaves: the smallest one
  // that is the largest number by a whole one. 1 of zeros; nothing where the sum of so many products of codes
  // may not fit 32 bits, or a number is not finite.
  std::optional<float> Find(std::span<const float> numbers);
  // FilterCodes::most_magnitude of the channels until now.
  float most_magnitude() const { return most_magnitude_; }

 private:
  std::optional<int> CodeByUnit(std::span<const float> numbers, double largest, int most) const;

  double unit_ = 0;  // the last scale; 0 at first
  float most_magnitude_ = 0;
};

// Of a filter whose output channels are the first axis, or, of groups, the first two.
FilterCodes CodesOfFilter(const TensorValue& filter, bool grouped);
// Of a matrix that is a constant factor on the right, by column, or by row where its transpose is.
FilterCodes CodesOfFactor(const TensorValue& matrix, bool transposed);

}  // namespace nnefc::runtime

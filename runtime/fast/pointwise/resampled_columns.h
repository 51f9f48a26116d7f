// The columns of a resampled row of single floats, as groups for the microkernel SumColumns.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/kernels/windows/resized_axes.h"

namespace nnefc::runtime::fast::pointwise {

class ResampledColumns {
 public:
  // Returns nothing if the elements of a group of results are too far apart, a result has no element, or
  // there are fewer results than a group has.
  static std::optional<ResampledColumns> Make(const std::vector<kernels::Taps>& taps);

  // Returns the floats after a row that must be readable.
  static int64_t OverRead();
  // Computes the results of a row.
  void Sum(const float* line, float* out) const;

 private:
  std::vector<int32_t> begins_, elements_;
  std::vector<float> weights_;
  int64_t terms_ = 0, columns_ = 0;
};

}  // namespace nnefc::runtime::fast::pointwise

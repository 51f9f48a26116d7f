// Resampled columns in groups.

#include "runtime/fast/pointwise/resampled_columns.h"

#include <algorithm>

#include "runtime/fast/simd/dispatch.h"
#include "runtime/fast/simd/pointwise/column_sums_microkernel.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::pointwise {

std::optional<ResampledColumns> ResampledColumns::Make(const std::vector<kernels::Taps>& taps) {
  const int64_t width = simd::SimdWidth(), columns = static_cast<int64_t>(taps.size());
  if (!simd::HasSimd() || columns < width) return std::nullopt;
  ResampledColumns found;
  found.columns_ = columns;
  for (const kernels::Taps& of_column : taps) {
    if (of_column.empty()) return std::nullopt;
    found.terms_ = std::max(found.terms_, static_cast<int64_t>(of_column.size()));
  }
  const int64_t groups = tensor::CeilDivide(columns, width);
  const auto size = static_cast<size_t>(groups * found.terms_ * width);
  found.elements_.assign(size, -1);
  found.weights_.assign(size, 0);
  for (int64_t group = 0; group < groups; ++group) {
    const int64_t first = group * width, end = std::min(columns, first + width);
    int64_t begin = taps[static_cast<size_t>(first)][0].position, last = begin;
    for (int64_t column = first; column < end; ++column) {
      for (const kernels::Tap& tap : taps[static_cast<size_t>(column)]) {
        begin = std::min(begin, tap.position);
        last = std::max(last, tap.position);
      }
    }
    if (last - begin >= 2 * width) return std::nullopt;
    found.begins_.push_back(static_cast<int32_t>(begin));
    for (int64_t column = first; column < end; ++column) {
      const kernels::Taps& of_column = taps[static_cast<size_t>(column)];
      for (size_t term = 0; term < of_column.size(); ++term) {
        const int64_t row = group * found.terms_ + static_cast<int64_t>(term);
        const auto at = static_cast<size_t>(row * width + column - first);
        found.elements_[at] = static_cast<int32_t>(of_column[term].position - begin);
        found.weights_[at] = static_cast<float>(of_column[term].weight);
      }
    }
  }
  return found;
}

int64_t ResampledColumns::OverRead() {
  return 2 * simd::SimdWidth();
}

void ResampledColumns::Sum(const float* line, float* out) const {
  simd::SumColumns({.line = line,
                    .begins = begins_.data(),
                    .elements = elements_.data(),
                    .weights = weights_.data(),
                    .terms = terms_,
                    .columns = columns_,
                    .out = out});
}

}  // namespace nnefc::runtime::fast::pointwise

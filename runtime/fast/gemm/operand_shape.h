#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "runtime/fast/simd/limits.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/reason.h"

namespace nnefc::runtime::fast::gemm {

// The shape of an operand of the binary operation `node` relative to its result; the first match applies.
enum class OperandShape : uint8_t {
  kScalar,      // one element
  kPerChannel,  // one element per position of the channel axis
  kFull,        // same size as the result
  kOther,
};
OperandShape ClassifyOperand(const ir::Node& node, llvm::ArrayRef<int64_t> operand,
                             llvm::ArrayRef<int64_t> result, int64_t channel_axis);

// The limits of a FakeQuantize for each index of an axis: low and high of the data, then of the result.
// Arrays with one element are the same for all indices.
struct AxisLimits {
  int64_t axis = 0;
  std::array<std::vector<float>, 4> numbers;
  float steps = 1;

  bool has_one_range() const {
    return std::all_of(numbers.begin(), numbers.end(), [](const auto& limit) { return limit.size() == 1; });
  }
  simd::FakeQuantizeLevels LevelsOf(size_t index) const {
    const auto at = [&](size_t limit) { return numbers[limit][numbers[limit].size() == 1 ? 0 : index]; };
    return {at(0), at(1), at(2), at(3), steps};
  }
};
// Returns the constant limits of a FakeQuantize with the given result. Excludes ranges so wide or narrow that
// divisions leave the normal range; an index of an axis may have equal limits, a step.
kernels::OrReason<AxisLimits> AxisLimitsOf(const ir::Node& node, llvm::ArrayRef<kernels::ValueInfo> limits,
                                           llvm::ArrayRef<int64_t> result);

}  // namespace nnefc::runtime::fast::gemm

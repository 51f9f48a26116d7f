// Classification of operands of binary operations by their shapes.

#include "runtime/fast/gemm/operand_shape.h"

#include <cmath>
#include <optional>

#include "runtime/kernels/arithmetic/broadcast.h"

namespace nnefc::runtime::fast::gemm {

using kernels::OrReason;
using kernels::Reason;

OperandShape ClassifyOperand(const ir::Node& node, llvm::ArrayRef<int64_t> operand,
                             llvm::ArrayRef<int64_t> result, int64_t channel_axis) {
  if (operand.size() > result.size()) return OperandShape::kOther;
  const bool is_slope = node.Is(ir::ElementFunction::kPRelu);
  // Slopes with a single axis apply to channels, if their number matches.
  const bool of_channels = is_slope && operand.size() == 1 && result.size() > 1 && operand[0] == result[1];
  const size_t missing = of_channels ? 1 : result.size() - operand.size();
  bool scalar = true;
  bool per_channel = true;
  for (size_t i = 0; i < operand.size(); ++i) {
    if (operand[i] == 1) continue;
    scalar = false;
    per_channel &= static_cast<int64_t>(i + missing) == channel_axis && operand[i] == result[i + missing];
  }
  if (scalar) return OperandShape::kScalar;
  if (missing > 0 && !is_slope && !kernels::AlignsLastAxes(node)) return OperandShape::kOther;
  if (per_channel) return OperandShape::kPerChannel;
  return operand == result ? OperandShape::kFull : OperandShape::kOther;
}

OrReason<AxisLimits> AxisLimitsOf(const ir::Node& node, llvm::ArrayRef<kernels::ValueInfo> limits,
                                  llvm::ArrayRef<int64_t> result) {
  constexpr float kMin = 1e-18F, kMax = 1e18F;
  const auto rank = static_cast<int64_t>(result.size());
  AxisLimits found{.steps = static_cast<float>(node.Int("levels") - 1)};
  std::optional<int64_t> axis;
  for (size_t i = 0; i < found.numbers.size(); ++i) {
    const kernels::ValueInfo& limit = limits[i];
    if (limit.constant == nullptr) return Reason("a limit is not constant");
    const int64_t first_axis = rank - static_cast<int64_t>(limit.shape.size());
    for (size_t at = 0; at < limit.shape.size(); ++at) {
      if (limit.shape[at] == 1) continue;
      const int64_t own = first_axis + static_cast<int64_t>(at);
      if (!kernels::AlignsLastAxes(node) || axis.value_or(own) != own)
        return Reason("the limits differ along more than one axis");
      axis = own;
    }
    for (int64_t index = 0; index < limit.constant->volume(); ++index) {
      found.numbers[i].push_back(static_cast<float>(limit.constant->ElementAsDouble(index)));
      if (!(std::abs(found.numbers[i].back()) < kMax)) return Reason("a limit is too large");
    }
  }
  found.axis = axis.value_or(0);
  const int64_t count = axis ? result[static_cast<size_t>(*axis)] : 1;
  for (int64_t index = 0; index < count; ++index) {
    const simd::FakeQuantizeLevels levels = found.LevelsOf(static_cast<size_t>(index));
    const bool is_step = axis && levels.high == levels.low;
    if (!is_step && !(levels.high - levels.low > kMin)) return Reason("the limits are too close");
  }
  return found;
}

}  // namespace nnefc::runtime::fast::gemm

// Classification of operands of binary operations by their shapes.

#include "runtime/fast/gemm/operand_shape.h"

#include "runtime/kernels/arithmetic/broadcast.h"

namespace nnefc::runtime::fast::gemm {

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

}  // namespace nnefc::runtime::fast::gemm

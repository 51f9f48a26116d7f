// Chains of elementwise functions.

#include "runtime/fast/gemm/function_chain.h"

#include <bit>
#include <cmath>
#include <limits>

#include "llvm/ADT/STLExtras.h"
#include "runtime/fast/gemm/operand_shape.h"
#include "runtime/kernels/attributes.h"

namespace nnefc::runtime::fast::gemm {

namespace {

using ir::ElementFunction;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A function, and the equivalent binary operation if there is one.
struct Step {
  ChainedFunction function;
  std::optional<ChainedFunction> binary = std::nullopt;
};
using Steps = llvm::SmallVector<Step, 2>;

Step BinaryStep(FunctionKind kind, float number) {
  return {{.kind = kind, .number = number}};
}

Step WithBinary(ChainedFunction function, FunctionKind kind, float number) {
  return {function, ChainedFunction{.kind = kind, .number = number}};
}

// Linear functions round once, like x + s and x * s. With a zero operand binary operations are used instead:
// oneDNN's primitive cache does not distinguish the parameters 0.0 and -0.0.
Step AddStep(float s) {
  if (s == 0) return BinaryStep(FunctionKind::kAdd, s);
  return WithBinary({FunctionKind::kLinear, 1, s}, FunctionKind::kAdd, s);
}

Step MultiplyStep(float s) {
  if (s == 0) return BinaryStep(FunctionKind::kMultiply, s);
  // Adding -0.0 preserves the sign of a zero product.
  return WithBinary({FunctionKind::kLinear, s, -0.0f}, FunctionKind::kMultiply, s);
}

// x > s ? x : s, computed by relu and by the lower limit of clip, including NaN and zeros.
Step MaximumStep(float s) {
  if (std::isnan(s)) return BinaryStep(FunctionKind::kMaximum, s);
  if (s == 0 && !std::signbit(s)) return WithBinary({FunctionKind::kRelu}, FunctionKind::kMaximum, s);
  return WithBinary({FunctionKind::kClip, s, kInfinity}, FunctionKind::kMaximum, s);
}

// x < s ? x : s. The upper limit of clip differs: the lower limit has already replaced NaN.
Step MinimumStep(float s) {
  return BinaryStep(FunctionKind::kMinimum, s);
}

// Returns the steps for an operation on x and a scalar s; for non-commutative ones x must be the first
// operand.
Steps MatchScalar(const ir::Node& node, int chained, float s) {
  const ElementFunction function = node.info().function;
  if (function == ElementFunction::kAdd) return {AddStep(s)};
  if (function == ElementFunction::kMultiply) return {MultiplyStep(s)};
  if (chained != 0) return {};
  switch (function) {
    case ElementFunction::kSubtract:
      return {AddStep(-s)};
    case ElementFunction::kMinimum:
      return {MinimumStep(s)};
    case ElementFunction::kMaximum:
      return {MaximumStep(s)};
    case ElementFunction::kSwish:
      return {{{FunctionKind::kSwish, s}}};
    case ElementFunction::kPRelu:
      // relu is x > 0 ? x : s * x, and 0 for s = 0.
      if (s > 0 && std::isfinite(s)) return {{{FunctionKind::kRelu, s}}};
      return {};
    default:
      return {};
  }
}

Steps MatchFunction(const ir::Node& node) {
  switch (node.info().function) {
    case ElementFunction::kRelu:
      return {MaximumStep(0)};
    case ElementFunction::kClamp:
      return {MinimumStep(static_cast<float>(node.Double("max"))),
              MaximumStep(static_cast<float>(node.Double("min")))};
    case ElementFunction::kElu:
      return {{{FunctionKind::kElu, static_cast<float>(node.Double("alpha"))}}};
    case ElementFunction::kSwish:
      return {{{FunctionKind::kSwish, 1}}};
    case ElementFunction::kGelu: {
      const std::string& mode = node.String("approximation_mode");
      const bool by_tanh = mode == "TANH" || mode == "tanh";
      return {{{by_tanh ? FunctionKind::kGeluTanh : FunctionKind::kGelu}}};
    }
    case ElementFunction::kSigmoid:
      return {{{FunctionKind::kSigmoid}}};
    case ElementFunction::kTanh:
      return {{{FunctionKind::kTanh}}};
    case ElementFunction::kAbs:
      return {{{FunctionKind::kAbs}}};
    case ElementFunction::kSqrt:
      return {{{FunctionKind::kSqrt}}};
    case ElementFunction::kHSwish:
      return {{{FunctionKind::kHSwish}}};
    case ElementFunction::kMish:
      return {{{FunctionKind::kMish}}};
    case ElementFunction::kSoftPlus:
      return {{{FunctionKind::kSoftPlus}}};
    default:  // including exp: eltwise_exp returns infinity for NaN
      return {};
  }
}

// Returns the steps applied to input `chained`; empty if there is no equivalent.
Steps Match(const ir::Node& node, int chained, llvm::ArrayRef<kernels::ValueInfo> rest) {
  if (rest.empty()) return MatchFunction(node);
  if (rest.size() != 1 || rest[0].constant == nullptr || rest[0].constant->volume() != 1) return {};
  return MatchScalar(node, chained, static_cast<float>(rest[0].constant->ElementAsDouble(0)));
}

}  // namespace

bool FunctionChain::Clashes(const ChainedFunction& function) const {
  const auto bits = [](float value) { return std::bit_cast<uint32_t>(value); };
  return llvm::any_of(functions_, [&](const ChainedFunction& earlier) {
    return earlier.kind == function.kind && !function.number &&
           (bits(earlier.alpha) != bits(function.alpha) || bits(earlier.beta) != bits(function.beta));
  });
}

bool FunctionChain::Append(const ir::Node& node, int chained, llvm::ArrayRef<kernels::ValueInfo> rest) {
  const Steps steps = Match(node, chained, rest);
  const size_t before = functions_.size();
  for (const Step& step : steps) {
    if (!Clashes(step.function)) {
      functions_.push_back(step.function);
    } else if (step.binary) {
      functions_.push_back(*step.binary);
    } else {
      functions_.truncate(before);
      return false;
    }
  }
  return !steps.empty();
}

void FunctionChain::AppendLimits(float low, float high) {
  functions_.push_back({.kind = FunctionKind::kClip, .alpha = low, .beta = high});
}

void FunctionChain::AppendRound() {
  functions_.push_back({.kind = FunctionKind::kRound});
}

bool FunctionChain::AppendLinear(float factor, float offset) {
  const ChainedFunction function{.kind = FunctionKind::kLinear, .alpha = factor, .beta = offset};
  if (Clashes(function)) return false;
  functions_.push_back(function);
  return true;
}

PostOpKind ClassifyPostOp(const kernels::KernelRequest& request, const kernels::PostOperation& post,
                          int64_t channel_axis, FunctionChain& chain) {
  const size_t operands = static_cast<size_t>(post.node->num_inputs()) - 1;
  const auto first = static_cast<size_t>(post.first_operand);
  if (chain.Append(*post.node, post.chained_input, request.inputs.slice(first, operands))) {
    // oneDNN's soft_relu rounds 1 + e^x before the logarithm: it returns -2e-6 for x = -20 instead of 2e-9.
    const bool is_exact = chain.functions().back().kind != FunctionKind::kSoftPlus;
    return is_exact ? PostOpKind::kFunction : PostOpKind::kOther;
  }
  const bool adds = post.node->Is(ElementFunction::kAdd);
  if (operands != 1 || (!adds && !post.node->Is(ElementFunction::kMultiply))) return PostOpKind::kOther;
  switch (ClassifyOperand(*post.node, request.inputs[first].shape, request.outputs[0].shape, channel_axis)) {
    case OperandShape::kPerChannel:
      return PostOpKind::kPerChannel;
    case OperandShape::kFull:
      return PostOpKind::kFull;
    case OperandShape::kScalar:
    case OperandShape::kOther:
      break;
  }
  return PostOpKind::kOther;
}

}  // namespace nnefc::runtime::fast::gemm

#include "runtime/onednn/dnnl_functions.h"

#include <bit>
#include <cmath>
#include <limits>

#include "llvm/ADT/STLExtras.h"
#include "runtime/kernels/attributes.h"

namespace nnefc::runtime {

namespace {

using dnnl::algorithm;
using ir::ElementFunction;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A function, and the equivalent binary algorithm if there is one.
struct Step {
  DnnFunction function;
  std::optional<DnnFunction> binary = std::nullopt;
};
using Steps = llvm::SmallVector<Step, 2>;

Step BinaryStep(algorithm algorithm, float number) {
  return {{.algorithm = algorithm, .number = number}};
}

Step WithBinary(DnnFunction function, algorithm algorithm, float number) {
  return {function, DnnFunction{.algorithm = algorithm, .number = number}};
}

// Linear functions round once, like x + s and x * s. With a zero operand binary algorithms are used instead:
// oneDNN's primitive cache does not distinguish the parameters 0.0 and -0.0.
Step AddStep(float s) {
  if (s == 0) return BinaryStep(algorithm::binary_add, s);
  return WithBinary({algorithm::eltwise_linear, 1, s}, algorithm::binary_add, s);
}

Step MultiplyStep(float s) {
  if (s == 0) return BinaryStep(algorithm::binary_mul, s);
  // Adding -0.0 preserves the sign of a zero product.
  return WithBinary({algorithm::eltwise_linear, s, -0.0f}, algorithm::binary_mul, s);
}

// x > s ? x : s, computed by oneDNN's relu and by the lower limit of its clip, including NaN and zeros.
Step MaximumStep(float s) {
  if (std::isnan(s)) return BinaryStep(algorithm::binary_max, s);
  if (s == 0 && !std::signbit(s)) return WithBinary({algorithm::eltwise_relu}, algorithm::binary_max, s);
  return WithBinary({algorithm::eltwise_clip, s, kInfinity}, algorithm::binary_max, s);
}

// x < s ? x : s. The upper limit of oneDNN's clip differs: its lower limit has already replaced NaN.
Step MinimumStep(float s) {
  return BinaryStep(algorithm::binary_min, s);
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
      return {{{algorithm::eltwise_swish, s}}};
    case ElementFunction::kPRelu:
      // oneDNN's relu is x > 0 ? x : s * x, and 0 for s = 0.
      if (s > 0 && std::isfinite(s)) return {{{algorithm::eltwise_relu, s}}};
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
      return {{{algorithm::eltwise_elu, static_cast<float>(node.Double("alpha"))}}};
    case ElementFunction::kSwish:
      return {{{algorithm::eltwise_swish, 1}}};
    case ElementFunction::kGelu: {
      const std::string& mode = node.String("approximation_mode");
      const bool by_tanh = mode == "TANH" || mode == "tanh";
      return {{{by_tanh ? algorithm::eltwise_gelu_tanh : algorithm::eltwise_gelu_erf}}};
    }
    case ElementFunction::kSigmoid:
      return {{{algorithm::eltwise_logistic}}};
    case ElementFunction::kTanh:
      return {{{algorithm::eltwise_tanh}}};
    case ElementFunction::kAbs:
      return {{{algorithm::eltwise_abs}}};
    case ElementFunction::kSqrt:
      return {{{algorithm::eltwise_sqrt}}};
    case ElementFunction::kHSwish:
      return {{{algorithm::eltwise_hardswish}}};
    case ElementFunction::kMish:
      return {{{algorithm::eltwise_mish}}};
    case ElementFunction::kSoftPlus:
      return {{{algorithm::eltwise_soft_relu}}};
    default:  // including exp: eltwise_exp returns infinity for NaN
      return {};
  }
}

// Returns the steps applied to input `chained`; empty if oneDNN has no equivalent.
Steps Match(const ir::Node& node, int chained, llvm::ArrayRef<ValueInfo> rest) {
  if (rest.empty()) return MatchFunction(node);
  if (rest.size() != 1 || rest[0].constant == nullptr || rest[0].constant->volume() != 1) return {};
  return MatchScalar(node, chained, static_cast<float>(rest[0].constant->ElementAsDouble(0)));
}

}  // namespace

bool DnnFunctions::Clashes(const DnnFunction& function) const {
  const auto bits = [](float value) { return std::bit_cast<uint32_t>(value); };
  return llvm::any_of(functions_, [&](const DnnFunction& earlier) {
    return earlier.algorithm == function.algorithm && !function.number &&
           (bits(earlier.alpha) != bits(function.alpha) || bits(earlier.beta) != bits(function.beta));
  });
}

bool DnnFunctions::Append(const ir::Node& node, int chained, llvm::ArrayRef<ValueInfo> rest) {
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

void DnnFunctions::AppendLimits(float low, float high) {
  functions_.push_back({.algorithm = algorithm::eltwise_clip, .alpha = low, .beta = high});
}

void DnnFunctions::AppendRound() {
  functions_.push_back({.algorithm = algorithm::eltwise_round});
}

bool DnnFunctions::AppendLinear(float factor, float offset) {
  const DnnFunction function{.algorithm = algorithm::eltwise_linear, .alpha = factor, .beta = offset};
  if (Clashes(function)) return false;
  functions_.push_back(function);
  return true;
}

}  // namespace nnefc::runtime

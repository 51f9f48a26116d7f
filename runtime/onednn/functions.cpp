#include "runtime/onednn/functions.h"

#include <bit>
#include <cmath>
#include <limits>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "runtime/kernels/attributes.h"

namespace nnefc::runtime {

namespace {

using dnnl::algorithm;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A function, and the same one as a binary algorithm where there is one.
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

// Linear functions round once, as x + s and x * s do. Those of a zero are left to
// binary algorithms: oneDNN's cache of primitives takes 0.0 and -0.0 for one
// parameter.
Step AddStep(float s) {
  if (s == 0) return BinaryStep(algorithm::binary_add, s);
  return WithBinary({algorithm::eltwise_linear, 1, s}, algorithm::binary_add, s);
}

Step MultiplyStep(float s) {
  if (s == 0) return BinaryStep(algorithm::binary_mul, s);
  // Adding -0.0 keeps the sign of a zero product.
  return WithBinary({algorithm::eltwise_linear, s, -0.0f}, algorithm::binary_mul, s);
}

// x > s ? x : s: what oneDNN's relu and the lower limit of its clip compute, NaN
// and zeros included.
Step MaximumStep(float s) {
  if (std::isnan(s)) return BinaryStep(algorithm::binary_max, s);
  if (s == 0 && !std::signbit(s)) return WithBinary({algorithm::eltwise_relu}, algorithm::binary_max, s);
  return WithBinary({algorithm::eltwise_clip, s, kInfinity}, algorithm::binary_max, s);
}

// x < s ? x : s. The upper limit of oneDNN's clip is not it: its lower limit has
// taken the place of NaN before.
Step MinimumStep(float s) {
  return BinaryStep(algorithm::binary_min, s);
}

// An operation of x and a scalar s; x is the first operand where the order
// matters.
Steps MatchScalar(const ir::Node& node, int chained, float s) {
  const std::string& type = node.type();
  if (type == "Add") return {AddStep(s)};
  if (type == "Multiply") return {MultiplyStep(s)};
  if (chained != 0) return {};
  if (type == "Subtract") return {AddStep(-s)};
  if (type == "Minimum") return {MinimumStep(s)};
  if (type == "Maximum") return {MaximumStep(s)};
  if (type == "Swish") return {{{algorithm::eltwise_swish, s}}};
  // oneDNN's relu is x > 0 ? x : s * x, and 0 for s = 0.
  if (type == "PReLU" && s > 0 && std::isfinite(s)) return {{{algorithm::eltwise_relu, s}}};
  return {};
}

Steps MatchFunction(const ir::Node& node) {
  const std::string& type = node.type();
  if (type == "ReLU") return {MaximumStep(0)};
  if (type == "Clamp") {
    return {MinimumStep(static_cast<float>(node.Double("max"))),
            MaximumStep(static_cast<float>(node.Double("min")))};
  }
  if (type == "Elu") return {{{algorithm::eltwise_elu, static_cast<float>(node.Double("alpha"))}}};
  if (type == "Swish") return {{{algorithm::eltwise_swish, 1}}};
  if (type == "Gelu") {
    const std::string mode = node.String("approximation_mode");
    const bool by_tanh = mode == "TANH" || mode == "tanh";
    return {{{by_tanh ? algorithm::eltwise_gelu_tanh : algorithm::eltwise_gelu_erf}}};
  }
  // Not eltwise_exp, which makes infinity of NaN.
  const auto plain = llvm::StringSwitch<std::optional<algorithm>>(type)
                         .Case("Sigmoid", algorithm::eltwise_logistic)
                         .Case("Tanh", algorithm::eltwise_tanh)
                         .Case("Abs", algorithm::eltwise_abs)
                         .Case("Sqrt", algorithm::eltwise_sqrt)
                         .Case("HSwish", algorithm::eltwise_hardswish)
                         .Case("Mish", algorithm::eltwise_mish)
                         .Case("SoftPlus", algorithm::eltwise_soft_relu)
                         .Default(std::nullopt);
  if (!plain) return {};
  return {{{*plain}}};
}

// What the node does to its input `chained`; empty if oneDNN has no such
// function.
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

}  // namespace nnefc::runtime

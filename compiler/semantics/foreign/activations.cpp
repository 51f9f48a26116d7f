// Names of activations in other frameworks, with their NNEF equivalents.

#include "compiler/semantics/foreign/operation.h"

namespace nnefc::semantics::foreign {
namespace {

constexpr std::string_view kTanhGelu = "0.5 * x * (1.0 + tanh(0.79788456 * (x + 0.044715 * x * x * x)))";

constexpr ForeignOperation kActivations[] = {
    Renamed("swish", "silu"),
    Renamed("logistic expit specialexpit", "sigmoid"),
    Renamed("quickgelu gelusigmoid", "gelu"),
    RenamedIf("alpha", "leakyrelu lrelu", "leaky_relu", "leaky_relu(x, alpha = ..)",
              "the default of PyTorch, ONNX and JAX is 0.01, that of Keras 0.3, that of TensorFlow 0.2"),
    Computed("celu", "max(x, 0.0) + min(alpha * (exp(x / alpha) - 1.0), 0.0)"),
    Computed("crelu", "concat([relu(x), relu(neg(x))], axis = ..)"),
    Computed("rrelu", "leaky_relu(x, alpha = 0.22916667)", "of a network that is run"),
    Computed("relu1", "clamp(x, 0.0, 1.0)"),
    Computed("relun1to1", "clamp(x, -1.0, 1.0)"),
    Computed("relu2 squaredrelu relusquared relusquare", "sqr(relu(x))"),
    Computed("relu6", "clamp(x, 0.0, 6.0)"),
    Computed("thresholdedrelu", "select(gt(x, alpha), x, 0.0)"),
    Computed("threshold", "select(gt(x, threshold), x, value)"),
    Missing("gelu",
            "NNEF's `gelu(x)` is x * sigmoid(1.702 * x), not the function with erf; `x * 0.5 * (1.0 + "
            "tract_core_erf(x * 0.70710678))` is for documents of tract",
            "PyTorch, ONNX, Keras, TensorFlow"),
    Computed("gelu", kTanhGelu, "", "JAX"),
    Computed("gelutanh geluapproximate gelunew gelufast gelupytorchtanh geluaccurate", kTanhGelu),
    // Piecewise linear functions.
    Computed("hardsigmoid", "clamp(x / 6.0 + 0.5, 0.0, 1.0)", "", "PyTorch, Keras, JAX"),
    Computed("hardsigmoid", "clamp(x * 0.2 + 0.5, 0.0, 1.0)", "", "ONNX, TensorFlow"),
    Computed("hardswish hardsilu", "x * clamp(x + 3.0, 0.0, 6.0) / 6.0"),
    Computed("hardtanh htanh", "clamp(x, -1.0, 1.0)"),
    Computed("hardshrink", "select(gt(abs(x), 0.5), x, 0.0)"),
    Computed("softshrink", "sign(x) * max(abs(x) - 0.5, 0.0)"),
    Computed("shrink", "select(gt(abs(x), lambd), x - sign(x) * bias, 0.0)"),
    Computed("softsign", "x / (1.0 + abs(x))"),
    Computed("sparseplus", "select(lt(x, 1.0), sqr(max(x + 1.0, 0.0)) / 4.0, x)"),
    Computed("sparsesigmoid", "clamp((x + 1.0) / 2.0, 0.0, 1.0)"),
    // Functions of exponentials.
    Computed("logsigmoid", "neg(softplus(neg(x)))"),
    Computed("mish", "x * tanh(softplus(x))"),
    Computed("tanhshrink", "x - tanh(x)"),
    Computed("squareplus", "(x + sqrt(x * x + 4.0)) / 2.0"),
    Computed("stanh scaledtanh", "1.7159 * tanh(x * 0.66666667)"),
    // Functions along axes.
    RenamedIf("axes", "softmax", "softmax", "softmax(x, axes = ..)", "axis 1 is the default of NNEF"),
    Computed("softmax2d", "softmax(x, axes = [1])"),
    Computed("softmin", "softmax(neg(x), axes = ..)"),
    Computed("logsoftmax",
             "m = max_reduce(x, axes = ..); y = x - m - log(sum_reduce(exp(x - m), axes = ..));"),
    Computed("standardize", "m, v = moments(x, axes = ..); y = (x - m) * rsqrt(v + 0.00001);"),
    Missing("sparsemax hardmax maxout adaptivelogsoftmax adaptivelogsoftmaxwithloss"),
    Missing("gumbelsoftmax", "there are no random numbers"),
    // Gates.
    Computed("glu", "[a, b] = split(x, axis = .., ratios = [1,1]); y = a * sigmoid(b);"),
    Computed("reglu", "[a, b] = split(x, axis = .., ratios = [1,1]); y = a * relu(b);"),
    Computed("swiglu", "silu(x) * y", "where `x` is the gate", "ONNX"),
    Computed("swiglu", "[a, b] = split(x, axis = .., ratios = [1,1]); y = silu(a) * b;", "", "PyTorch, JAX"),
    Missing("geglu", "`gelu(x)` of NNEF is x * sigmoid(1.702 * x); a gate is a `split` and a `mul`"),
    Missing("activation", "each activation has a name, such as `relu(x)` and `sigmoid(x)`"),
};

}  // namespace

std::span<const ForeignOperation> ForeignActivations() {
  return kActivations;
}

}  // namespace nnefc::semantics::foreign

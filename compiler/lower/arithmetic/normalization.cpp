// Lowerings of NNEF's normalizations to OpenVINO operations.

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/lower/arithmetic/reduce.h"
#include "compiler/lower/table.h"
#include "compiler/lower/windows/pooling.h"

namespace nnefc::lower {

namespace {

OutputPort Square(NodeLowering& n, OutputPort x) {
  return n.Binary("Multiply", x, x, "squares");
}

OutputPort AddScalar(NodeLowering& n, OutputPort x, double value, std::string_view suffix) {
  return value == 0 ? x : n.Binary("Add", x, n.ConstFloat(value, fmt::format("{}_value", suffix)), suffix);
}

// Returns max(norm + bias, epsilon) for a non-negative norm.
OutputPort Bounded(NodeLowering& n, OutputPort norm, double bias, double epsilon) {
  norm = AddScalar(n, norm, bias, "biased");
  if (bias >= 0 && epsilon <= 0) return norm;
  return n.Binary("Maximum", norm, n.ConstFloat(epsilon, "epsilon"), "bounded");
}

// Returns the common extent of all non-trivial axes of an LRN window, if it is odd: LRN divides by the volume
// of a centered window, like NNEF's automatic padding. OpenVINO's CPU plugin supports LRN across channels or
// across all spatial axes only.
std::optional<int64_t> LrnSize(const std::vector<int64_t>& size, std::vector<int64_t>& axes) {
  int64_t common = 1;
  for (size_t i = 0; i < size.size(); ++i) {
    if (size[i] == 1) continue;
    if (common != 1 && size[i] != common) return std::nullopt;
    common = size[i];
    axes.push_back(static_cast<int64_t>(i));
  }
  if (axes.empty() || common % 2 == 0) return std::nullopt;
  const bool across_channels = axes.size() == 1 && axes[0] == 1;
  const bool across_space = axes[0] == 2 && axes.size() + 2 == size.size();
  if (!across_channels && !across_space) return std::nullopt;
  return common;
}

// `local_response_normalization(input, size = [1, 5, 1, 1], alpha = 1e-4, beta = 0.75)`
void LowerLocalResponse(NodeLowering& n) {
  const std::vector<int64_t> size = n.Ints("size");
  std::vector<int64_t> axes;
  const std::optional<int64_t> common = LrnSize(size, axes);
  const double alpha = n.Double("alpha");
  const double beta = n.Double("beta");
  const double bias = n.Double("bias");
  // The CPU plugin truncates the bias to an integer.
  if (common && std::floor(bias) == bias) {
    n.SetOutput(n.Add("opset1", "LRN", {n.input(0), n.ConstInts(axes, "axes")},
                      Attributes({{"alpha", alpha}, {"beta", beta}, {"bias", bias}, {"size", *common}})));
    return;
  }
  const OutputPort mean = LocalMean(n, Square(n, n.input(0)), n.input_shape(0), size);
  const OutputPort scaled = n.Binary("Multiply", mean, n.ConstFloat(alpha, "alpha"), "scaled");
  const OutputPort sigma = AddScalar(n, scaled, bias, "sigma");
  n.SetOutput(n.Binary("Divide", n.input(0), n.Binary("Power", sigma, n.ConstFloat(beta, "beta"))));
}

OutputPort SubtractLocalMean(NodeLowering& n, OutputPort x) {
  return n.Binary("Subtract", x, LocalMean(n, x, n.input_shape(0), n.Ints("size")), "centered");
}

OutputPort DivideByLocalDeviation(NodeLowering& n, OutputPort x) {
  const OutputPort sigma = n.Unary("Sqrt", LocalMean(n, Square(n, x), n.input_shape(0), n.Ints("size")));
  return n.Binary("Divide", x, Bounded(n, sigma, n.Double("bias"), n.Double("epsilon")));
}

void LowerLocalMean(NodeLowering& n) {
  n.SetOutput(SubtractLocalMean(n, n.input(0)));
}
void LowerLocalVariance(NodeLowering& n) {
  n.SetOutput(DivideByLocalDeviation(n, n.input(0)));
}
void LowerLocalContrast(NodeLowering& n) {
  n.SetOutput(DivideByLocalDeviation(n, SubtractLocalMean(n, n.input(0))));
}

void LowerL1(NodeLowering& n) {
  const OutputPort sum = Reduce(n, "ReduceSum", n.Unary("Abs", n.input(0)), n.Ints("axes"));
  n.SetOutput(n.Binary("Divide", n.input(0), Bounded(n, sum, n.Double("bias"), n.Double("epsilon"))));
}

// l2_normalization: x / max(sqrt(sum(x^2)) + bias, epsilon). NormalizeL2 applies the bound before the root;
// without a bias that bound is epsilon squared.
void LowerL2(NodeLowering& n) {
  const std::vector<int64_t> axes = n.Ints("axes");
  const double bias = n.Double("bias");
  const double epsilon = n.Double("epsilon");
  if (bias == 0 && epsilon > 0 && epsilon * epsilon >= std::numeric_limits<float>::min() && !axes.empty()) {
    n.SetOutput(n.Add("opset1", "NormalizeL2", {n.input(0), n.ConstInts(axes, "axes")},
                      Attributes({{"eps", epsilon * epsilon}, {"eps_mode", "max"}})));
    return;
  }
  const OutputPort norm = n.Unary("Sqrt", Reduce(n, "ReduceSum", Square(n, n.input(0)), axes));
  n.SetOutput(n.Binary("Divide", n.input(0), Bounded(n, norm, bias, epsilon)));
}

// Returns a parameter of batch_normalization as [C]: a tensor [1, C] (or [1, C, 1, ..]) or a constant of one
// element. Nothing for other shapes.
std::optional<OutputPort> ChannelParameter(NodeLowering& n, int32_t index, int64_t channels) {
  const PartialShape& shape = n.input_shape(index);
  if (!shape.known()) return std::nullopt;
  const bool by_channel = shape.rank() >= 2 && shape.rank() <= n.input_rank(0) && shape[0] == ir::Dim(1) &&
                          shape[1] == ir::Dim(channels) && shape.volume() == channels;
  if (by_channel)
    return n.WithShape(n.input(index), {channels}, n.node().info().inputs[static_cast<size_t>(index)].name);
  const std::optional<double> value = n.ScalarValue(n.input(index));
  constexpr int64_t kMaxChannels = 1 << 20;
  if (!value || channels > kMaxChannels || shape.rank() > n.input_rank(0)) return std::nullopt;
  return n.Constant(TensorValue::Filled(ElementType::kF32, {channels}, *value), "parameter");
}

// batch_normalization(input, mean, variance, offset, scale, epsilon):
// offset + scale * (input - mean) / sqrt(variance + epsilon).
void LowerBatchNormalization(NodeLowering& n) {
  const PartialShape& input = n.input_shape(0);
  const double epsilon = n.Double("epsilon");
  if (input.rank() >= 2 && input[1].known() && epsilon >= 0) {
    std::vector<OutputPort> parameters;
    for (int32_t index : {4, 3, 1, 2}) {  // gamma, beta, mean, variance
      const auto parameter = ChannelParameter(n, index, input[1].value());
      if (!parameter) break;
      parameters.push_back(*parameter);
    }
    if (parameters.size() == 4) {
      parameters.insert(parameters.begin(), n.input(0));
      n.SetOutput(n.Add("opset5", "BatchNormInference", parameters, Attributes({{"epsilon", epsilon}})));
      return;
    }
  }
  const OutputPort centered = n.Binary("Subtract", n.input(0), n.input(1));
  const OutputPort deviation = n.Unary("Sqrt", AddScalar(n, n.input(2), epsilon, "variance"));
  const OutputPort scaled = n.Binary("Multiply", n.input(4), centered);
  n.SetOutput(n.Binary("Add", n.input(3), n.Binary("Divide", scaled, deviation)));
}

}  // namespace

void RegisterNormalization(LoweringTable& table) {
  table["local_response_normalization"] = LowerLocalResponse;
  table["local_mean_normalization"] = LowerLocalMean;
  table["local_variance_normalization"] = LowerLocalVariance;
  table["local_contrast_normalization"] = LowerLocalContrast;
  table["l1_normalization"] = LowerL1;
  table["l2_normalization"] = LowerL2;
  table["batch_normalization"] = LowerBatchNormalization;
}

}  // namespace nnefc::lower

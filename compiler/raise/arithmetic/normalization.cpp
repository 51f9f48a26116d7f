// Raising of OpenVINO's normalizations to NNEF operations.

#include <algorithm>
#include <cmath>

#include "compiler/raise/arithmetic/batch_norm.h"
#include "compiler/raise/node_raising.h"
#include "compiler/raise/table.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::raise {

namespace {

OutputPort AddScalar(NodeRaising& n, OutputPort x, double value, std::string_view suffix) {
  return value == 0 ? x : n.Binary("add", x, n.Literal(value), suffix);
}

// Returns the parameter `name`, a value for each channel, as [1, channels].
OutputPort ChannelParameter(NodeRaising& n, std::string_view name) {
  const int32_t index = InputNamed(n.node(), name);
  return n.WithShape(index, {1, n.input_shape(index)[0]});
}

// A batch normalization that no convolution absorbs is folded into a product and a sum on request.
void RaiseBatchNorm(NodeRaising& n) {
  const int32_t data = InputNamed(n.node(), "data");
  n.RequireScalars(data);
  const OutputPort x = n.input(data);
  if (n.state().options.folds_batch_normalization) {
    if (const auto transform = ChannelTransformOf(n.state(), n.node())) {
      const Integers shape{1, static_cast<int64_t>(transform->scale.size())};
      const OutputPort scaled = n.Binary("mul", x, n.Floats(transform->scale, shape, "scale"), "scaled");
      return n.SetOutput(n.Binary("add", scaled, n.Floats(transform->shift, shape, "shift")));
    }
  }
  n.SetOutput(n.Add("batch_normalization",
                    {x, ChannelParameter(n, "mean"), ChannelParameter(n, "variance"),
                     ChannelParameter(n, "beta"), ChannelParameter(n, "gamma")},
                    Attributes({{"epsilon", n.node().Double("epsilon")}})));
}

// (x - mean) / sqrt(variance + eps), or / (sqrt(variance) + eps), with both moments over the axes.
OutputPort Normalized(NodeRaising& n, OutputPort x, const Integers& axes, double eps, bool is_inside) {
  const ir::NodeId moments = n.AddNode({ir::kNnefSet, "moments"}, x, Attributes({{"axes", axes}}), 2);
  const OutputPort centered = n.Binary("sub", x, {moments, 0}, "centered");
  const OutputPort variance{moments, 1};
  const OutputPort deviation = is_inside
                                   ? n.Unary("sqrt", AddScalar(n, variance, eps, "variance"), "deviation")
                                   : AddScalar(n, n.Unary("sqrt", variance, "deviation"), eps, "divisor");
  return n.Binary("div", centered, deviation);
}

void RaiseMvn(NodeRaising& n) {
  n.RequireScalars();
  Integers axes;
  if (n.has_input(1)) {
    axes = n.ConstAxes(1, n.input_rank(0));
  } else {
    for (int64_t axis = n.node().Bool("across_channels") ? 1 : 2; axis < n.input_rank(0); ++axis)
      axes.push_back(axis);
  }
  const OutputPort x = n.input(0);
  if (!n.node().Bool("normalize_variance"))
    return n.SetOutput(n.Binary("sub", x, n.Add("mean_reduce", x, Attributes({{"axes", axes}}), "mean")));
  const std::string& mode = n.node().String("eps_mode");
  const bool is_inside = mode == "inside_sqrt" || mode == "INSIDE_SQRT";
  n.SetOutput(Normalized(n, x, axes, n.node().Double("eps"), is_inside));
}

// Moments of the elements and channels of a group, then a scale and a bias for each channel.
void RaiseGroupNormalization(NodeRaising& n) {
  n.RequireScalars();
  const nnefc::Shape shape = n.input_shape(0);
  const int64_t groups = n.node().Int("num_groups");
  nnefc::Shape grouped{shape[0], groups, shape[1] / groups};
  grouped.append(shape.begin() + 2, shape.end());
  Integers axes;
  for (size_t axis = 2; axis < grouped.size(); ++axis) axes.push_back(static_cast<int64_t>(axis));
  const OutputPort x = n.Reshape(n.input(0), grouped, "grouped");
  const OutputPort normalized =
      n.Reshape(Normalized(n, x, axes, n.node().Double("epsilon"), true), shape, "normalized");
  const OutputPort scaled = n.Binary("mul", normalized, ChannelParameter(n, "scale"), "scaled");
  n.SetOutput(n.Binary("add", scaled, ChannelParameter(n, "bias")));
}

// NormalizeL2: x / sqrt(max(sum(x^2), eps)), that is `l2_normalization` with the root of eps, or
// x / sqrt(sum(x^2) + eps).
void RaiseNormalizeL2(NodeRaising& n) {
  n.RequireScalars();
  const Integers axes = n.ConstAxes(1, n.input_rank(0));
  const double eps = n.node().Double("eps");
  const OutputPort x = n.input(0);
  if (n.node().String("eps_mode") == "max" && !axes.empty()) {
    return n.SetOutput(
        n.Add("l2_normalization", x, Attributes({{"axes", axes}, {"epsilon", std::sqrt(eps)}})));
  }
  const OutputPort squares = n.Unary("sqr", x);
  const OutputPort sum = axes.empty() ? squares : n.Add("sum_reduce", squares, Attributes({{"axes", axes}}));
  const OutputPort bounded = n.node().String("eps_mode") == "max"
                                 ? n.Binary("max", sum, n.Literal(eps), "bounded")
                                 : AddScalar(n, sum, eps, "biased");
  n.SetOutput(n.Binary("div", x, n.Unary("sqrt", bounded)));
}

// GRN: x / sqrt(sum over the channels of x^2 + bias).
void RaiseGrn(NodeRaising& n) {
  n.RequireScalars();
  const OutputPort x = n.input(0);
  const OutputPort sum = n.Add("sum_reduce", n.Unary("sqr", x), Attributes({{"axes", Integers{1}}}));
  const OutputPort biased = AddScalar(n, sum, n.node().Double("bias"), "biased");
  n.SetOutput(n.Binary("div", x, n.Unary("sqrt", biased)));
}

// LRN: x / (bias + alpha / size^n * sum(x^2))^beta with the sum over a centered window.
void RaiseLrn(NodeRaising& n) {
  n.RequireScalars();
  const int64_t size = n.node().Int("size");
  if (size % 2 == 0) n.Decline("its window has the even size {}", size);
  Integers window(static_cast<size_t>(n.input_rank(0)), 1);
  for (int64_t axis : n.ConstAxes(1, n.input_rank(0))) window[static_cast<size_t>(axis)] = size;
  const bool is_mixed =
      IsForTract(n) && (window[0] > 1 || window[1] > 1) &&
      !(window[0] == 1 && std::count(window.begin(), window.end(), 1) + 1 == n.input_rank(0));
  if (is_mixed) n.Decline("tract has no windows across channels and other axes");
  n.SetOutput(n.Add("local_response_normalization", n.input(0),
                    Attributes({{"size", window},
                                {"alpha", n.node().Double("alpha")},
                                {"beta", n.node().Double("beta")},
                                {"bias", n.node().Double("bias")}})));
}

}  // namespace

std::vector<RaiseEntry> NormalizationEntries() {
  return {{"BatchNormInference", RaiseBatchNorm},
          {"MVN", RaiseMvn},
          {"GroupNormalization", RaiseGroupNormalization},
          {"NormalizeL2", RaiseNormalizeL2},
          {"GRN", RaiseGrn},
          {"LRN", RaiseLrn}};
}

}  // namespace nnefc::raise

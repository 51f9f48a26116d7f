// Raising of OpenVINO's activations to NNEF operations.

#include <cmath>
#include <numbers>

#include "compiler/raise/node_raising.h"
#include "compiler/raise/table.h"

namespace nnefc::raise {

namespace {

template <const char* kOperation>
void RaiseByName(NodeRaising& n) {
  n.RequireScalars();
  n.SetOutput(n.Unary(kOperation, n.input(0)));
}
constexpr char kRelu[] = "relu";

// True if a result of the graph is the output of the node, perhaps after a few rearrangements.
bool IsResult(const NodeRaising& n) {
  constexpr int kMaxRearrangements = 8;
  const ir::Graph& graph = n.source();
  ir::NodeId last = n.node().id();
  for (int i = 0; i <= kMaxRearrangements; ++i) {
    ir::NodeId next;
    for (ir::InputPort use : graph.node(last).uses()) {
      const ir::Node& user = graph.node(use.node);
      if (user.Is(ir::OpRole::kResult)) return true;
      if (user.info().rearrangement != ir::Rearrangement::kNone) next = use.node;
    }
    if (!next.valid()) return false;
    last = next;
  }
  return false;
}

// tract's `sigmoid` is exact to the rounding of numbers near 1, so that a small result would be wrong by a
// part of itself: a probability of 1e-6 by a tenth.
void RaiseSigmoid(NodeRaising& n) {
  n.RequireScalars();
  const OutputPort x = n.input(0);
  if (!IsForTract(n) || !IsResult(n)) return n.SetOutput(n.Unary("sigmoid", x));
  const OutputPort power = n.Unary("exp", n.Unary("neg", x, "negative"), "power");
  n.SetOutput(n.Unary("rcp", n.Binary("add", power, n.Literal(1.0), "sum")));
}

// The exp(x) in `softplus` of tract overflows.
OutputPort Softplus(NodeRaising& n, OutputPort x, std::string_view suffix = {}) {
  if (!IsForTract(n)) return n.Unary("softplus", x, suffix);
  const OutputPort share = n.Unary("exp", n.Unary("neg", n.Unary("abs", x), "below"), "share");
  const OutputPort excess = n.Unary("log", n.Binary("add", share, n.Literal(1.0), "sum"), "excess");
  return n.Binary("add", n.Unary("relu", x), excess, suffix);
}

void RaiseSoftplus(NodeRaising& n) {
  n.RequireScalars();
  n.SetOutput(Softplus(n, n.input(0)));
}

// tract ignores `alpha`.
void RaiseElu(NodeRaising& n) {
  n.RequireScalars();
  if (IsForTract(n) && n.node().Double("alpha") != 1) {
    const OutputPort x = n.input(0);
    const OutputPort growth = n.Binary("sub", n.Unary("exp", x, "exponential"), n.Literal(1.0), "growth");
    const OutputPort scaled = n.Binary("mul", growth, n.Literal(n.node().Double("alpha")), "scaled");
    const OutputPort is_negative = n.Binary("lt", x, n.Literal(0.0), "is_negative");
    return n.SetOutput(n.Add("select", {is_negative, scaled, x}, Attributes({{"dtype", "scalar"}})));
  }
  n.SetOutput(n.Add("elu", n.input(0), Attributes({{"alpha", n.node().Double("alpha")}})));
}

// Returns the constant parameter `index` of an activation.
double Parameter(NodeRaising& n, int32_t index, std::string_view name) {
  const std::optional<double> value = n.ScalarValue(index);
  if (!value) n.Decline("its `{}` depends on data", name);
  return *value;
}

void RaiseSelu(NodeRaising& n) {
  n.RequireScalars();
  if (IsForTract(n)) {
    const OutputPort x = n.input(0);
    const OutputPort negative = n.Unary("exp", n.Binary("min", x, n.Literal(0.0), "negative"), "exponential");
    const OutputPort growth = n.Binary("sub", negative, n.Literal(1.0), "growth");
    const OutputPort scaled = n.Binary("mul", growth, n.Literal(Parameter(n, 1, "alpha")), "scaled");
    const OutputPort sum = n.Binary("add", n.Unary("relu", x), scaled, "sum");
    return n.SetOutput(n.Binary("mul", sum, n.Literal(Parameter(n, 2, "lambda"))));
  }
  n.SetOutput(
      n.Add("selu", n.input(0),
            Attributes({{"alpha", Parameter(n, 1, "alpha")}, {"lambda", Parameter(n, 2, "lambda")}})));
}

// A slope of rank 1 belongs to the channels, axis 1; others are broadcast.
void RaisePRelu(NodeRaising& n) {
  n.RequireScalars();
  const OutputPort x = n.input(0);
  if (const auto slope = n.ScalarValue(1))
    return n.SetOutput(n.Add("leaky_relu", x, Attributes({{"alpha", *slope}})));
  const nnefc::Shape slope = n.input_shape(1);
  const nnefc::Shape shape = n.input_shape(0);
  if (slope.size() == 1 && shape.size() >= 2 && slope[0] == shape[1])
    return n.SetOutput(n.Add("prelu", {x, n.WithShape(1, {1, slope[0]})}));
  n.SetOutput(n.Add("prelu", {x, n.Aligned(1, n.output_rank())}));
}

// Swish: x * sigmoid(beta * x). NNEF names those with beta 1 and 1.702.
void RaiseSwish(NodeRaising& n) {
  n.RequireScalars();
  const OutputPort x = n.input(0);
  const double beta = n.has_input(1) ? Parameter(n, 1, "beta") : 1.0;
  if (beta == 1.0) return n.SetOutput(n.Unary("silu", x));
  if (static_cast<float>(beta) == 1.702f && !IsForTract(n)) return n.SetOutput(n.Unary("gelu", x));
  const OutputPort scaled = n.Binary("mul", x, n.Literal(beta), "scaled");
  n.SetOutput(n.Binary("mul", x, n.Unary("sigmoid", scaled)));
}

// The error function as a quotient of polynomials, accurate to the rounding of f32: NNEF has none. Numerical
// libraries use the same form. Beyond 4 it is 1.
OutputPort ErrorFunction(NodeRaising& n, OutputPort argument, std::string_view suffix = {}) {
  if (IsForTract(n)) return n.Unary("tract_core_erf", argument, suffix);
  constexpr double kOdd[] = {-2.72614225801306e-10, 2.77068142495902e-08,  -2.10102402082508e-06,
                             -5.69250639462346e-05, -7.34990630326855e-04, -2.95459980854025e-03,
                             -1.60960333262415e-02};
  constexpr double kEven[] = {-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03,
                              -7.37332916720468e-03, -1.42647390514189e-02};
  const OutputPort x = n.Add("clamp", {argument, n.Literal(-4.0), n.Literal(4.0)}, {}, "clamped");
  const OutputPort square = n.Unary("sqr", x, "square");
  const auto polynomial = [&](llvm::ArrayRef<double> coefficients, std::string_view name) {
    OutputPort sum = n.Binary("mul", square, n.Literal(coefficients[0]), name);
    for (size_t i = 1; i < coefficients.size(); ++i) {
      sum = n.Binary("add", sum, n.Literal(coefficients[i]), name);
      if (i + 1 < coefficients.size()) sum = n.Binary("mul", sum, square, name);
    }
    return sum;
  };
  const OutputPort odd = n.Binary("mul", x, polynomial(kOdd, "odd"), "numerator");
  return n.Binary("div", odd, polynomial(kEven, "even"), suffix);
}

void RaiseErf(NodeRaising& n) {
  n.RequireScalars();
  n.SetOutput(ErrorFunction(n, n.input(0)));
}

// Gelu: x / 2 * (1 + erf(x / sqrt(2))), or the approximation by tanh. NNEF's `gelu` is another function.
void RaiseGelu(NodeRaising& n) {
  n.RequireScalars();
  const OutputPort x = n.input(0);
  const std::string& mode = n.node().String("approximation_mode");
  OutputPort inner;
  if (mode == "TANH" || mode == "tanh") {
    const OutputPort cube = n.Binary("mul", n.Unary("sqr", x, "square"), x, "cube");
    const OutputPort sum =
        n.Binary("add", x, n.Binary("mul", cube, n.Literal(0.044715), "scaled_cube"), "sum");
    inner = n.Unary("tanh", n.Binary("mul", sum, n.Literal(std::sqrt(2 / std::numbers::pi)), "scaled_sum"));
  } else {
    inner = ErrorFunction(n, n.Binary("mul", x, n.Literal(std::numbers::sqrt2 / 2), "scaled"), "erf");
  }
  const OutputPort gate = n.Binary("add", inner, n.Literal(1.0), "gate");
  n.SetOutput(n.Binary("mul", n.Binary("mul", x, n.Literal(0.5), "half"), gate));
}

// clamp(x + 3, 0, 6)
OutputPort HardGate(NodeRaising& n, OutputPort x) {
  const OutputPort shifted = n.Binary("add", x, n.Literal(3.0), "shifted");
  return n.Add("clamp", {shifted, n.Literal(0.0), n.Literal(6.0)}, {}, "gate");
}

void RaiseHSwish(NodeRaising& n) {
  n.RequireScalars();
  const OutputPort x = n.input(0);
  n.SetOutput(n.Binary("div", n.Binary("mul", x, HardGate(n, x), "gated"), n.Literal(6.0)));
}

void RaiseHSigmoid(NodeRaising& n) {
  n.RequireScalars();
  n.SetOutput(n.Binary("div", HardGate(n, n.input(0)), n.Literal(6.0)));
}

void RaiseHardSigmoid(NodeRaising& n) {
  n.RequireScalars();
  const OutputPort scaled = n.Binary("mul", n.input(0), n.Literal(Parameter(n, 1, "alpha")), "scaled");
  const OutputPort shifted = n.Binary("add", scaled, n.Literal(Parameter(n, 2, "beta")), "shifted");
  n.SetOutput(n.Add("clamp", {shifted, n.Literal(0.0), n.Literal(1.0)}));
}

void RaiseMish(NodeRaising& n) {
  n.RequireScalars();
  const OutputPort x = n.input(0);
  n.SetOutput(n.Binary("mul", x, n.Unary("tanh", Softplus(n, x, "softplus"))));
}

void RaiseSoftSign(NodeRaising& n) {
  n.RequireScalars();
  const OutputPort x = n.input(0);
  n.SetOutput(n.Binary("div", x, n.Binary("add", n.Unary("abs", x), n.Literal(1.0), "divisor")));
}

int64_t Axis(const NodeRaising& n) {
  const int64_t axis = n.node().Int("axis");
  return AxisFromFront(axis, n.input_rank(0));
}

void RaiseSoftmax(NodeRaising& n) {
  n.RequireScalars();
  n.SetOutput(n.Add("softmax", n.input(0), Attributes({{"axes", Integers{Axis(n)}}})));
}

// x - max - log(sum(exp(x - max))): the logarithm of `softmax` would be -inf for small results.
void RaiseLogSoftmax(NodeRaising& n) {
  n.RequireScalars();
  const ir::AttributeMap axes = Attributes({{"axes", Integers{Axis(n)}}});
  const OutputPort x = n.input(0);
  const OutputPort shifted = n.Binary("sub", x, n.Add("max_reduce", x, axes, "max"), "shifted");
  const OutputPort sum = n.Add("sum_reduce", n.Unary("exp", shifted), axes, "sum");
  n.SetOutput(n.Binary("sub", shifted, n.Unary("log", sum)));
}

}  // namespace

std::vector<RaiseEntry> ActivationEntries() {
  return {{"ReLU", RaiseByName<kRelu>},
          {"Sigmoid", RaiseSigmoid},
          {"SoftPlus", RaiseSoftplus},
          {"Elu", RaiseElu},
          {"Selu", RaiseSelu},
          {"PReLU", RaisePRelu},
          {"Swish", RaiseSwish},
          {"Gelu", RaiseGelu},
          {"Erf", RaiseErf},
          {"HSwish", RaiseHSwish},
          {"HSigmoid", RaiseHSigmoid},
          {"HardSigmoid", RaiseHardSigmoid},
          {"Mish", RaiseMish},
          {"SoftSign", RaiseSoftSign},
          {"SoftMax", RaiseSoftmax},
          {"LogSoftmax", RaiseLogSoftmax}};
}

}  // namespace nnefc::raise

// Lowerings of NNEF's activations to OpenVINO operations.

#include "compiler/lower/arithmetic/reduce.h"
#include "compiler/lower/node_lowering.h"
#include "compiler/lower/table.h"

namespace nnefc::lower {

namespace {

void LowerSigmoid(NodeLowering& n) {
  n.SetOutput(n.Unary("Sigmoid", n.input(0)));
}
void LowerRelu(NodeLowering& n) {
  n.SetOutput(n.Unary("ReLU", n.input(0)));
}
void LowerSoftplus(NodeLowering& n) {
  n.SetOutput(n.Add("opset4", "SoftPlus", n.input(0)));
}
void LowerSilu(NodeLowering& n) {
  n.SetOutput(n.Add("opset4", "Swish", n.input(0)));
}

// `gelu` is x * sigmoid(1.702 x) by definition; Gelu-7 has no such function.
void LowerGelu(NodeLowering& n) {
  n.SetOutput(n.Add("opset4", "Swish", {n.input(0), n.ConstFloat(1.702, "beta")}));
}

void LowerElu(NodeLowering& n) {
  n.SetOutput(n.Add("opset1", "Elu", n.input(0), Attributes({{"alpha", n.Double("alpha")}})));
}

OutputPort ConstFloats1(NodeLowering& n, double value, std::string_view suffix) {
  return n.Constant(TensorValue::FromFloats({1}, static_cast<float>(value)), suffix);
}

void LowerSelu(NodeLowering& n) {
  if (n.Double("alpha") == 0 || n.Double("lambda") == 0) {
    // OpenVINO replaces zeros by its defaults.
    const OutputPort elu =
        n.Add("opset1", "Elu", n.input(0), Attributes({{"alpha", n.Double("alpha")}}), "elu");
    n.SetOutput(n.Binary("Multiply", elu, n.ConstFloat(n.Double("lambda"), "lambda")));
    return;
  }
  n.SetOutput(n.Add("opset1", "Selu",
                    {n.input(0), ConstFloats1(n, n.Double("alpha"), "alpha"),
                     ConstFloats1(n, n.Double("lambda"), "lambda")}));
}

void LowerLeakyRelu(NodeLowering& n) {
  n.SetOutput(n.Add("opset1", "PReLU", {n.input(0), ConstFloats1(n, n.Double("alpha"), "slope")}));
}

// Returns the slope in a form that PReLU supports, [C] along axis 1 or a single element; otherwise nothing.
std::optional<OutputPort> ChannelSlope(NodeLowering& n) {
  const PartialShape& x = n.input_shape(0);
  const PartialShape& slope = n.input_shape(1);
  if (n.output_shape().rank() != x.rank() || !slope.known()) return std::nullopt;
  if (slope.volume() == 1) return n.WithShape(n.input(1), {1}, "slope");
  const bool by_channel = x.rank() >= 2 && slope.rank() >= 2 && slope[0] == ir::Dim(1) && x[1].known() &&
                          slope[1] == x[1] && slope.volume() == x[1].value();
  if (!by_channel) return std::nullopt;
  return n.WithShape(n.input(1), {x[1].value()}, "slope");
}

// prelu: select(x < 0.0, alpha * x, x).
void LowerPrelu(NodeLowering& n) {
  const OutputPort x = n.input(0);
  if (const auto slope = ChannelSlope(n)) {
    n.SetOutput(n.Add("opset1", "PReLU", {x, *slope}));
    return;
  }
  const int64_t rank = n.output_shape().rank();
  const OutputPort negative = n.Binary("Less", x, n.ConstFloat(0, "zero"));
  const OutputPort scaled = n.Binary("Multiply", n.input(1), x);
  n.SetOutput(n.Add("opset1", "Select", {n.Align(negative, rank), scaled, n.Align(x, rank)},
                    Attributes({{"auto_broadcast", "numpy"}})));
}

// Lowers softmax; over several axes it is composed of other operations.
void LowerSoftmax(NodeLowering& n) {
  const std::vector<int64_t> axes = n.Ints("axes");
  if (axes.size() == 1) {
    n.SetOutput(n.Add("opset8", "SoftMax", n.input(0), Attributes({{"axis", axes.front()}})));
    return;
  }
  const OutputPort shifted = n.Binary("Subtract", n.input(0), Reduce(n, "ReduceMax", n.input(0), axes));
  const OutputPort powers = n.Unary("Exp", shifted);
  n.SetOutput(n.Binary("Divide", powers, Reduce(n, "ReduceSum", powers, axes)));
}

}  // namespace

void RegisterActivation(LoweringTable& table) {
  table["sigmoid"] = LowerSigmoid;
  table["relu"] = LowerRelu;
  table["prelu"] = LowerPrelu;
  table["leaky_relu"] = LowerLeakyRelu;
  table["elu"] = LowerElu;
  table["selu"] = LowerSelu;
  table["gelu"] = LowerGelu;
  table["silu"] = LowerSilu;
  table["softmax"] = LowerSoftmax;
  table["softplus"] = LowerSoftplus;
}

}  // namespace nnefc::lower

// Lowerings of NNEF's elementwise operations to OpenVINO operations.

#include <algorithm>

#include "compiler/lower/arithmetic/integer_arithmetic.h"
#include "compiler/lower/arithmetic/rounding.h"
#include "compiler/lower/node_lowering.h"
#include "compiler/lower/table.h"

namespace nnefc::lower {

namespace {

void LowerUnary(NodeLowering& n) {
  const ir::OpRegistry& ops = ir::StandardOps();
  const ir::OpInfo& equivalent = ops.Info(ops.FindNewest(n.node().info().equivalent));
  n.SetOutput(n.Add(equivalent.set, equivalent.name, n.input(0)));
}

void LowerBinary(NodeLowering& n) {
  n.SetOutput(n.Binary(n.node().info().equivalent, n.input(0), n.input(1)));
}

// Compares integers as integers, since two of them may have the same f32 value.
void LowerComparison(NodeLowering& n) {
  const auto integers = IntegerOperands(n, n.node());
  if (!integers) return LowerBinary(n);
  n.SetOutput(n.Binary(n.node().info().equivalent, (*integers)[0], (*integers)[1]));
}

// Round-5 rounds ties differently.
void LowerRound(NodeLowering& n) {
  n.SetOutput(RoundHalfUp(n, n.input(0)));
}

OutputPort Reciprocal(NodeLowering& n, OutputPort x) {
  return n.Binary("Divide", n.ConstFloat(1.0, "one"), x);
}

void LowerRcp(NodeLowering& n) {
  n.SetOutput(Reciprocal(n, n.input(0)));
}
void LowerSqr(NodeLowering& n) {
  n.SetOutput(n.Binary("Multiply", n.input(0), n.input(0)));
}
void LowerRsqr(NodeLowering& n) {
  n.SetOutput(Reciprocal(n, n.Binary("Multiply", n.input(0), n.input(0))));
}
void LowerRsqrt(NodeLowering& n) {
  n.SetOutput(Reciprocal(n, n.Unary("Sqrt", n.input(0))));
}

void LowerLog2(NodeLowering& n) {
  n.SetOutput(Log2(n, n.input(0)));
}

// clamp: max(min(x, b), a); a Clamp if the limits are ordered constants.
void LowerClamp(NodeLowering& n) {
  const std::optional<double> low = n.ScalarValue(n.input(1));
  const std::optional<double> high = n.ScalarValue(n.input(2));
  const bool same_rank = n.output_shape().rank() == n.input_rank(0);
  if (low && high && *low <= *high && same_rank) {
    n.SetOutput(n.Add("opset1", "Clamp", n.input(0), Attributes({{"min", *low}, {"max", *high}})));
    return;
  }
  n.SetOutput(n.Binary("Maximum", n.Binary("Minimum", n.input(0), n.input(2)), n.input(1)));
}

void LowerSelect(NodeLowering& n) {
  const int64_t rank = n.output_shape().rank();
  n.SetOutput(n.Add("opset1", "Select",
                    {n.Align(n.input(0), rank), n.Align(n.input(1), rank), n.Align(n.input(2), rank)},
                    Attributes({{"auto_broadcast", "numpy"}})));
}

}  // namespace

void RegisterElementwise(LoweringTable& table) {
  const ir::OpRegistry& ops = ir::StandardOps();
  for (size_t i = 0; i < ops.size(); ++i) {
    const ir::OpInfo& info = ops.Info(ir::OpId(static_cast<int32_t>(i)));
    if (info.equivalent.empty() || !info.is_elementwise) continue;
    table[info.name] = info.inputs.size() == 1 ? LowerUnary : LowerBinary;
  }
  for (std::string_view comparison : {"lt", "gt", "le", "ge", "eq", "ne"})
    table[comparison] = LowerComparison;
  table["round"] = LowerRound;
  table["rcp"] = LowerRcp;
  table["sqr"] = LowerSqr;
  table["rsqr"] = LowerRsqr;
  table["rsqrt"] = LowerRsqrt;
  table["log2"] = LowerLog2;
  table["clamp"] = LowerClamp;
  table["select"] = LowerSelect;
}

}  // namespace nnefc::lower

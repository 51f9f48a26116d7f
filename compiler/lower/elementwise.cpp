#include <algorithm>

#include "compiler/lower/integer_arithmetic.h"
#include "compiler/lower/node_lowering.h"
#include "compiler/lower/rounding.h"
#include "compiler/lower/table.h"

namespace nnefc::lower {

namespace {

struct Translation {
  std::string_view nnef, set, openvino;
};

// Operations with a one-to-one translation.
constexpr Translation kUnaries[] = {
    {"neg", "opset1", "Negative"}, {"exp", "opset1", "Exp"},      {"log", "opset1", "Log"},
    {"sin", "opset1", "Sin"},      {"cos", "opset1", "Cos"},      {"tan", "opset1", "Tan"},
    {"sinh", "opset1", "Sinh"},    {"cosh", "opset1", "Cosh"},    {"tanh", "opset1", "Tanh"},
    {"asin", "opset1", "Asin"},    {"acos", "opset1", "Acos"},    {"atan", "opset1", "Atan"},
    {"asinh", "opset4", "Asinh"},  {"acosh", "opset4", "Acosh"},  {"atanh", "opset4", "Atanh"},
    {"abs", "opset1", "Abs"},      {"sign", "opset1", "Sign"},    {"not", "opset1", "LogicalNot"},
    {"floor", "opset1", "Floor"},  {"ceil", "opset1", "Ceiling"}, {"sqrt", "opset1", "Sqrt"},
};

// `min` and `max` are defined by `select`: a NaN in `x` yields `y`. Minimum and Maximum do not specify this.
constexpr Translation kBinaries[] = {
    {"add", "opset1", "Add"},      {"sub", "opset1", "Subtract"}, {"mul", "opset1", "Multiply"},
    {"div", "opset1", "Divide"},   {"pow", "opset1", "Power"},    {"lt", "opset1", "Less"},
    {"gt", "opset1", "Greater"},   {"le", "opset1", "LessEqual"}, {"ge", "opset1", "GreaterEqual"},
    {"eq", "opset1", "Equal"},     {"ne", "opset1", "NotEqual"},  {"and", "opset1", "LogicalAnd"},
    {"or", "opset1", "LogicalOr"}, {"min", "opset1", "Minimum"},  {"max", "opset1", "Maximum"},
};

const Translation& Translate(llvm::ArrayRef<Translation> table, std::string_view nnef) {
  const auto* entry =
      std::find_if(table.begin(), table.end(), [&](const Translation& t) { return t.nnef == nnef; });
  NNEFC_CHECK(entry != table.end());
  return *entry;
}

void LowerUnary(NodeLowering& n) {
  const Translation& form = Translate(kUnaries, n.node().type());
  n.SetOutput(n.Add(form.set, form.openvino, n.input(0)));
}

void LowerBinary(NodeLowering& n) {
  n.SetOutput(n.Binary(Translate(kBinaries, n.node().type()).openvino, n.input(0), n.input(1)));
}

// Compares integers as integers, since two of them may have the same f32 value.
void LowerComparison(NodeLowering& n) {
  const auto integers = IntegerOperands(n, n.node());
  if (!integers) return LowerBinary(n);
  n.SetOutput(n.Binary(Translate(kBinaries, n.node().type()).openvino, (*integers)[0], (*integers)[1]));
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
  for (const Translation& form : kUnaries) table[form.nnef] = LowerUnary;
  for (const Translation& form : kBinaries) table[form.nnef] = LowerBinary;
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

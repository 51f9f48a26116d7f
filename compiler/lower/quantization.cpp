#include <cmath>

#include "compiler/lower/node_lowering.h"
#include "compiler/lower/table.h"

namespace nnefc::lower {

namespace {

// FakeQuantize between `min` and `max`: the same steps on both sides. OpenVINO
// rounds half to even where NNEF's text has floor(x + 0.5).
void FakeQuantize(NodeLowering& n, int64_t levels) {
  const int64_t rank = n.output_shape().rank();
  const OutputPort low = n.Align(n.input(1), rank);
  const OutputPort high = n.Align(n.input(2), rank);
  n.SetOutput(n.Add("opset1", "FakeQuantize", {n.Align(n.input(0), rank), low, high, low, high},
                    Attributes({{"levels", levels}, {"auto_broadcast", "numpy"}})));
}

// `min_max_linear_quantize(x, min, max, bits = 8, signed = true, symmetric = true)`.
// That there are two levels at least, and 63 bits suffice, is rule quantize.bits.
void LowerMinMaxLinear(NodeLowering& n) {
  const bool drops_lowest = n.Bool("signed") && n.Bool("symmetric");
  FakeQuantize(n, (int64_t{1} << n.Int("bits")) - (drops_lowest ? 1 : 0));
}

void LowerLinear(NodeLowering& n) {
  FakeQuantize(n, int64_t{1} << n.Int("bits"));
}

OutputPort Round(NodeLowering& n, OutputPort x) {
  return n.Unary("Floor", n.Binary("Add", x, n.ConstFloat(0.5, "half")), "round");
}

// zero_point_linear_quantize: (clamp(round(x / scale) + z, lowest, highest) - z) * scale.
void LowerZeroPoint(NodeLowering& n) {
  const auto bits = static_cast<int>(n.Int("bits"));
  const bool is_signed = n.Bool("signed");
  const double highest = std::ldexp(1.0, is_signed ? bits - 1 : bits) - 1;
  const double lowest = !is_signed ? 0.0 : n.Bool("symmetric") ? -highest : -highest - 1;
  const OutputPort zero_point = n.Add("opset1", "Convert", n.input(1),
                                      Attributes({{"destination_type", ElementType::kF32}}), "zero_point");
  const OutputPort scaled = Round(n, n.Binary("Divide", n.input(0), n.input(2)));
  const OutputPort shifted = n.Binary("Add", scaled, zero_point);
  const OutputPort clamped =
      n.Add("opset1", "Clamp", shifted, Attributes({{"min", lowest}, {"max", highest}}));
  n.SetOutput(n.Binary("Multiply", n.Binary("Subtract", clamped, zero_point), n.input(2)));
}

OutputPort Log2(NodeLowering& n, OutputPort x) {
  return n.Binary("Divide", n.Unary("Log", x), n.ConstFloat(std::log(2.0), "ln2"), "log2");
}

// logarithmic_quantize: sign(x) * 2 ^ round(clamp(log2(|x|), m - r, m)) with
// m = ceil(log2(max)); zero stays zero by its sign.
void LowerLogarithmic(NodeLowering& n) {
  const auto bits = static_cast<int>(n.Int("bits"));
  const double range = std::ldexp(1.0, bits) - 1;
  const OutputPort x = n.input(0);
  const OutputPort high = n.Unary("Ceiling", Log2(n, n.input(1)));
  const OutputPort low = n.Binary("Subtract", high, n.ConstFloat(range, "range"));
  const OutputPort exponent = Log2(n, n.Unary("Abs", x));
  const OutputPort clamped = n.Binary("Maximum", n.Binary("Minimum", exponent, high), low);
  const OutputPort magnitude = n.Binary("Power", n.ConstFloat(2, "two"), Round(n, clamped));
  n.SetOutput(n.Binary("Multiply", n.Unary("Sign", x), magnitude));
}

}  // namespace

void RegisterQuantization(LoweringTable& table) {
  table["min_max_linear_quantize"] = LowerMinMaxLinear;
  table["zero_point_linear_quantize"] = LowerZeroPoint;
  table["linear_quantize"] = LowerLinear;
  table["logarithmic_quantize"] = LowerLogarithmic;
}

}  // namespace nnefc::lower

// Lowerings of NNEF's quantizations to OpenVINO operations.

#include <cmath>

#include "compiler/lower/arithmetic/rounding.h"
#include "compiler/lower/node_lowering.h"
#include "compiler/lower/table.h"

namespace nnefc::lower {

namespace {

// Quantizes to equal steps between `min` and `max` by the formula of R 4.9.5. FakeQuantize rounds halves to
// even instead of floor(x + 0.5), and differs if `min` is above `max`. `offset` is subtracted from the
// quantized values and added again, as in the formula.
void Quantize(NodeLowering& n, double steps, double offset) {
  const OutputPort low = n.input(1);
  const OutputPort high = n.input(2);
  const OutputPort clamped = n.Binary("Maximum", n.Binary("Minimum", n.input(0), high), low);
  const OutputPort range = n.Binary("Subtract", high, low, "range");
  const OutputPort largest = n.ConstFloat(steps, "steps");
  const OutputPort share = n.Binary("Divide", n.Binary("Subtract", clamped, low), range);
  OutputPort code = RoundHalfUp(n, n.Binary("Multiply", share, largest));
  // Quantized values of fewer bits are exact.
  if (offset >= 0x1p23) {
    const OutputPort shift = n.ConstFloat(offset, "offset");
    code = n.Binary("Add", n.Binary("Subtract", code, shift), shift);
  }
  n.SetOutput(n.Binary("Add", n.Binary("Multiply", n.Binary("Divide", code, largest), range), low));
}

// True if the node is preserved: it has few quantized values, and their range is constant.
bool StaysWhole(const NodeLowering& n) {
  constexpr int64_t kMaxBits = 16;
  return n.state().options.keeps_exact_operations && n.Int("bits") <= kMaxBits && n.ScalarValue(n.input(1)) &&
         n.ScalarValue(n.input(2));
}

void KeepMinMaxLinear(NodeLowering& n) {
  n.SetOutput(n.Add(ir::kNnefSet, "min_max_linear_quantize", {n.input(0), n.input(1), n.input(2)},
                    Attributes({{"bits", n.Int("bits")}, {"signed", false}, {"symmetric", false}})));
}

// `min_max_linear_quantize(x, min, max, bits = 8, signed = true, symmetric = true)`. The rule quantize.bits
// ensures at least two levels and at most 62 bits.
void LowerMinMaxLinear(NodeLowering& n) {
  if (StaysWhole(n)) return void(n.Keep());
  const auto bits = static_cast<int>(n.Int("bits"));
  const bool drops_lowest = n.Bool("signed") && n.Bool("symmetric");
  const double steps = std::ldexp(1.0, bits) - 1 - (drops_lowest ? 1 : 0);
  const double offset = n.Bool("signed") ? std::ldexp(1.0, bits - 1) - (n.Bool("symmetric") ? 1 : 0) : 0;
  Quantize(n, steps, offset);
}

void LowerLinearQuantize(NodeLowering& n) {
  if (StaysWhole(n)) return KeepMinMaxLinear(n);
  Quantize(n, std::ldexp(1.0, static_cast<int>(n.Int("bits"))) - 1, 0);
}

// zero_point_linear_quantize: (clamp(round(x / scale) + z, lowest, highest) - z) * scale.
void LowerZeroPoint(NodeLowering& n) {
  if (StaysWhole(n)) return void(n.Keep());
  const auto bits = static_cast<int>(n.Int("bits"));
  const bool is_signed = n.Bool("signed");
  const double highest = std::ldexp(1.0, is_signed ? bits - 1 : bits) - 1;
  const double lowest = !is_signed ? 0.0 : n.Bool("symmetric") ? -highest : -highest - 1;
  const OutputPort zero_point = n.Add("opset1", "Convert", n.input(1),
                                      Attributes({{"destination_type", ElementType::kF32}}), "zero_point");
  const OutputPort scaled = RoundHalfUp(n, n.Binary("Divide", n.input(0), n.input(2)));
  const OutputPort shifted = n.Binary("Add", scaled, zero_point);
  const OutputPort clamped =
      n.Add("opset1", "Clamp", shifted, Attributes({{"min", lowest}, {"max", highest}}));
  n.SetOutput(n.Binary("Multiply", n.Binary("Subtract", clamped, zero_point), n.input(2)));
}

// logarithmic_quantize: sign(x) * 2 ^ round(clamp(log2(|x|), m - r, m)) with m = ceil(log2(max)); 0 if x is
// 0.
void LowerLogarithmic(NodeLowering& n) {
  const auto bits = static_cast<int>(n.Int("bits"));
  const double range = std::ldexp(1.0, bits) - 1;
  const OutputPort x = n.input(0);
  const OutputPort high = n.Unary("Ceiling", Log2(n, n.input(1)));
  const OutputPort low = n.Binary("Subtract", high, n.ConstFloat(range, "range"));
  const OutputPort exponent = Log2(n, n.Unary("Abs", x));
  const OutputPort clamped = n.Binary("Maximum", n.Binary("Minimum", exponent, high), low);
  const OutputPort magnitude = n.Binary("Power", n.ConstFloat(2, "two"), RoundHalfUp(n, clamped));
  n.SetOutput(n.Binary("Multiply", n.Unary("Sign", x), magnitude));
}

}  // namespace

void RegisterQuantization(LoweringTable& table) {
  table["min_max_linear_quantize"] = LowerMinMaxLinear;
  table["zero_point_linear_quantize"] = LowerZeroPoint;
  table["linear_quantize"] = LowerLinearQuantize;
  table["logarithmic_quantize"] = LowerLogarithmic;
}

}  // namespace nnefc::lower

// Exact rounding to integers by OpenVINO operations.

#include "compiler/lower/arithmetic/rounding.h"

#include <cmath>

namespace nnefc::lower {

// The difference of a number and its floor is exact if it is at most 0.5. If it is rounded, for negative
// numbers near zero, it remains above 0.5.
OutputPort RoundHalfUp(NodeLowering& n, OutputPort x) {
  if (n.state().options.keeps_exact_operations) return n.Add(ir::kNnefSet, "round", x);
  const OutputPort floor = n.Unary("Floor", x);
  const OutputPort fraction = n.Binary("Subtract", x, floor, "fraction");
  const OutputPort is_upper = n.Binary("GreaterEqual", fraction, n.ConstFloat(0.5, "half"), "is_upper");
  const OutputPort step =
      n.Add("opset1", "Select", {is_upper, n.ConstFloat(1, "one"), n.ConstFloat(0, "zero")},
            Attributes({{"auto_broadcast", "numpy"}}), "step");
  return n.Binary("Add", floor, step, "round");
}

OutputPort Log2(NodeLowering& n, OutputPort x) {
  if (n.state().options.keeps_exact_operations) return n.Add(ir::kNnefSet, "log2", x);
  const OutputPort quotient = n.Binary("Divide", n.Unary("Log", x), n.ConstFloat(std::log(2.0), "ln2"));
  const OutputPort exponent =
      n.Add("opset5", "Round", {quotient}, Attributes({{"mode", "half_to_even"}}), "exponent");
  const OutputPort power = n.Binary("Power", n.ConstFloat(2, "two"), exponent, "power");
  return n.Add("opset1", "Select", {n.Binary("Equal", power, x, "is_power"), exponent, quotient},
               Attributes({{"auto_broadcast", "numpy"}}), "log2");
}

}  // namespace nnefc::lower

// NNEF operations that round halves to even.

#include "compiler/raise/arithmetic/rounding.h"

namespace nnefc::raise {

// The floor is odd if its half has a fraction. Beyond 2^23, where every scalar is an integer, the fraction is
// zero.
OutputPort RoundHalfToEven(NodeRaising& n, OutputPort x, std::string_view suffix) {
  if (IsForTract(n)) return n.Unary("tract_core_round_even", x, suffix);
  const OutputPort floor = n.Unary("floor", x, "floor");
  const OutputPort fraction = n.Binary("sub", x, floor, "fraction");
  const OutputPort half = n.Binary("mul", floor, n.Literal(0.5), "half");
  const OutputPort is_odd = n.Binary("ne", half, n.Unary("floor", half, "half_floor"), "is_odd");
  const OutputPort is_tie = n.Binary("eq", fraction, n.Literal(0.5), "is_tie");
  const OutputPort is_above = n.Binary("gt", fraction, n.Literal(0.5), "is_above");
  const OutputPort is_up = n.Binary("or", is_above, n.Binary("and", is_tie, is_odd, "is_odd_tie"), "is_up");
  const OutputPort next = n.Binary("add", floor, n.Literal(1.0), "next");
  return n.Add("select", {is_up, next, floor}, Attributes({{"dtype", "scalar"}}), suffix);
}

}  // namespace nnefc::raise

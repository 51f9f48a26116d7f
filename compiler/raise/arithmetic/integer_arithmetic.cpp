// Raising of arithmetic on integers for tract: they have 64 bits in the document.

#include "compiler/raise/arithmetic/integer_arithmetic.h"

#include "compiler/raise/table.h"

namespace nnefc::raise {

bool HasIntegerArithmetic(NodeRaising& n, int32_t index) {
  return IsForTract(n) && IsInteger(n.input_type(index));
}

void RequireNumbers(NodeRaising& n, int32_t index) {
  if (!HasIntegerArithmetic(n, index)) n.RequireScalars(index);
}

OutputPort InRangeOf(NodeRaising& n, ElementType type, OutputPort port) {
  if (!IsInteger(type) || type == ElementType::kI64 || type == ElementType::kU64) return port;
  if (BitWidth(type) < 8) n.Decline("tract has no integers of {} bits", BitWidth(type));
  return n.Add("tract_core_to_width", port, Attributes({{"datum_type", Name(type)}}), "wrapped");
}

OutputPort Product(NodeRaising& n, OutputPort x, OutputPort y) {
  if (x != y || n.target().output(x).type != ElementType::kI64) return n.Binary("mul", x, y);
  return n.Unary("neg", n.Binary("mul", n.Unary("neg", x, "opposite"), y, "negative"));
}

namespace {

// Returns x - trunc(x / y) * y, with the sign of x.
OutputPort Remainder(NodeRaising& n, OutputPort x, OutputPort y) {
  const OutputPort whole = n.Binary("mul", n.Binary("div", x, y, "quotient"), y, "whole");
  return n.Binary("sub", x, whole, "rest");
}

// Returns the remainder with the sign of y.
OutputPort FloorRemainder(NodeRaising& n, OutputPort x, OutputPort y) {
  return Remainder(n, n.Binary("add", Remainder(n, x, y), y, "sum"), y);
}

template <bool kHasSignOfDivisor>
void RaiseRemainder(NodeRaising& n) {
  if (!HasIntegerArithmetic(n)) n.Decline("tract has no remainder of scalars");
  const std::string& rule = n.node().String("auto_broadcast");
  if (rule != "numpy" && n.input_shape(0) != n.input_shape(1))
    n.Decline("it broadcasts by the rule `{}`", rule);
  const auto [x, y] = n.AlignedPair(0, 1, n.output_rank());
  n.SetOutput(kHasSignOfDivisor ? FloorRemainder(n, x, y) : Remainder(n, x, y));
}

template <const char* kOperation>
void RaiseBits(NodeRaising& n) {
  const std::string& rule = n.node().String("auto_broadcast");
  if (rule != "numpy" && n.input_shape(0) != n.input_shape(1))
    n.Decline("it broadcasts by the rule `{}`", rule);
  const auto [x, y] = n.AlignedPair(0, 1, n.output_rank());
  n.SetOutput(InRangeOf(n, n.output_type(),
                        n.Add(kOperation, {x, y}, Attributes({{"dtype", DataTypeName(n.output_type())}}))));
}
constexpr char kAnd[] = "tract_core_bitand";
constexpr char kOr[] = "tract_core_bitor";
constexpr char kXor[] = "tract_core_bitxor";
constexpr char kLeft[] = "tract_shl";
constexpr char kRight[] = "tract_shr";

void RaiseBitwiseNot(NodeRaising& n) {
  if (n.input_type(0) == ElementType::kBoolean) return n.SetOutput(n.Unary("not", n.input(0)));
  const OutputPort inverted =
      n.Add("tract_core_bitnot", n.input(0), Attributes({{"dtype", DataTypeName(n.output_type())}}));
  n.SetOutput(InRangeOf(n, n.output_type(), inverted));
}

}  // namespace

std::vector<RaiseEntry> IntegerArithmeticEntries() {
  return {{"Mod", RaiseRemainder<false>, /*is_of_tract=*/true},
          {"FloorMod", RaiseRemainder<true>, /*is_of_tract=*/true},
          {"BitwiseAnd", RaiseBits<kAnd>, /*is_of_tract=*/true},
          {"BitwiseOr", RaiseBits<kOr>, /*is_of_tract=*/true},
          {"BitwiseXor", RaiseBits<kXor>, /*is_of_tract=*/true},
          {"BitwiseLeftShift", RaiseBits<kLeft>, /*is_of_tract=*/true},
          {"BitwiseRightShift", RaiseBits<kRight>, /*is_of_tract=*/true},
          {"BitwiseNot", RaiseBitwiseNot, /*is_of_tract=*/true}};
}

}  // namespace nnefc::raise

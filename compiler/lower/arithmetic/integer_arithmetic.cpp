// Lowerings of integer arithmetic that a document expresses with casts to scalars and back.

#include "compiler/lower/arithmetic/integer_arithmetic.h"

#include <algorithm>
#include <cmath>

#include "compiler/ir/op_registry.h"
#include "compiler/lower/arithmetic/reduce.h"
#include "compiler/lower/table.h"
#include "compiler/lower/windows/window.h"

namespace nnefc::lower {

namespace {

// The bound on integers in the document that f64 represents exactly.
constexpr double kMaxExact = 1LL << 53;

// Returns true for a node of that NNEF operation.
bool Is(const ir::Node& node, std::string_view name) {
  return node.op() == ir::StandardOps().Find(ir::kNnefSet, name);
}

}  // namespace

std::optional<OutputPort> IntegersBefore(const NodeLowering& n, OutputPort source) {
  const ir::Graph& graph = n.state().source;
  const ir::Node& node = graph.node(source.node);
  if (graph.output(source).type == ElementType::kI64) return n.LoweredPort(source);
  const bool is_cast = Is(node, "cast") && graph.output(node.input(0)).type == ElementType::kI64;
  return is_cast ? std::optional(n.LoweredPort(node.input(0))) : std::nullopt;
}

namespace {

// Returns the integers before a port of the source, or an integral constant there.
std::optional<OutputPort> IntegersAt(NodeLowering& n, OutputPort source) {
  if (const auto integers = IntegersBefore(n, source)) return integers;
  const ir::Node& node = n.state().source.node(source.node);
  const std::optional<Shape> shape = n.state().source.output(source).shape.extents();
  if (!node.Is(ir::OpRole::kConstant) || !shape) return std::nullopt;
  std::vector<int64_t> items;
  for (double item : node.attribute("value").AsDoubles()) {
    if (item != std::trunc(item) || std::abs(item) >= kMaxExact) return std::nullopt;
    items.push_back(static_cast<int64_t>(item));
  }
  const auto volume = static_cast<size_t>(Volume(*shape).value_or(0));
  if (items.size() == 1) items.resize(volume, items[0]);
  if (items.size() != volume) return std::nullopt;
  return n.Constant(TensorValue::FromInts(*shape, items), "whole");
}

// Returns true for a quotient or a mean.
bool IsFraction(const ir::Node& node) {
  return Is(node, "div") || Is(node, "mean_reduce") ||
         (Is(node, "sum_reduce") && node.attribute("normalize").AsBool());
}

// Returns the fraction or power that `choice` rounds toward zero (ceil if negative, else floor), or null.
const ir::Node* TruncatedNumber(const ir::Graph& graph, const ir::Node& choice) {
  if (!Is(choice, "select")) return nullptr;
  const ir::Node& negative = graph.node(choice.input(0).node);
  const ir::Node& up = graph.node(choice.input(1).node);
  const ir::Node& down = graph.node(choice.input(2).node);
  if (!Is(negative, "lt") || !Is(up, "ceil") || !Is(down, "floor")) return nullptr;
  const ir::OutputPort fraction = down.input(0);
  if (up.input(0) != fraction || negative.input(0) != fraction) return nullptr;
  if (choice.output().shape != graph.output(fraction).shape) return nullptr;  // the zeros repeat the choice
  const ir::Node& zero = graph.node(negative.input(1).node);
  if (!zero.Is(ir::OpRole::kConstant) || zero.attribute("value").AsDoubles() != std::vector<double>{0.0})
    return nullptr;
  const ir::Node& rounded = graph.node(fraction.node);
  return IsFraction(rounded) || Is(rounded, "pow") ? &rounded : nullptr;
}

// Returns the fraction that a cast of `node` to integers rounds down, or null.
const ir::Node* FlooredFraction(const ir::Graph& graph, const ir::Node& node) {
  if (IsFraction(node)) return &node;
  if (!Is(node, "floor")) return nullptr;
  const ir::Node& rounded = graph.node(node.input(0).node);
  return IsFraction(rounded) ? &rounded : nullptr;
}

// Returns true if no divisor is known to be zero.
bool HasSafeDivisors(const ir::Graph& graph, const ir::Node& quotient) {
  const ir::Node& divisors = graph.node(quotient.input(1).node);
  if (!divisors.Is(ir::OpRole::kConstant)) return true;
  const std::vector<double> values = divisors.attribute("value").AsDoubles();
  return std::find(values.begin(), values.end(), 0.0) == values.end();
}

// Returns true if all exponents are known and none is negative.
bool HasNaturalExponents(const ir::Graph& graph, const ir::Node& power) {
  const ir::Node& exponents = graph.node(power.input(1).node);
  if (!exponents.Is(ir::OpRole::kConstant)) return false;
  const std::vector<double> values = exponents.attribute("value").AsDoubles();
  return std::all_of(values.begin(), values.end(), [](double value) { return value >= 0; });
}

struct Fraction {
  OutputPort dividend, divisor;
};

std::optional<Fraction> ReadFraction(NodeLowering& cast, const ir::Node& node) {
  if (Is(node, "div") && !HasSafeDivisors(cast.state().source, node)) return std::nullopt;
  const auto operands = IntegerOperands(cast, node);
  if (!operands) return std::nullopt;
  if (Is(node, "div")) return Fraction{(*operands)[0], (*operands)[1]};
  const std::vector<int64_t> axes = node.attribute("axes").AsInts();
  int64_t count = 1;
  for (int64_t axis : axes) {
    const ir::Dim extent = cast.state().source.output(node.input(0)).shape[axis];
    if (!extent.known() || extent.min == 0 || __builtin_mul_overflow(count, extent.min, &count))
      return std::nullopt;
  }
  return Fraction{Reduce(cast, "ReduceSum", (*operands)[0], axes, "sum"), cast.ConstInt(count, "count")};
}

// Divides integers; rounds toward zero.
OutputPort Truncated(NodeLowering& cast, OutputPort dividend, OutputPort divisor) {
  const int64_t rank = cast.output_shape().rank();
  return cast.Add("opset1", "Divide", {cast.Align(dividend, rank), cast.Align(divisor, rank)},
                  Attributes({{"auto_broadcast", "numpy"}, {"m_pythondiv", false}}));
}

// Subtracts the remainder, of the divisor's sign, so that the division is exact.
OutputPort Floored(NodeLowering& cast, const Fraction& fraction) {
  const OutputPort rest = cast.Binary("FloorMod", fraction.dividend, fraction.divisor);
  return Truncated(cast, cast.Binary("Subtract", fraction.dividend, rest), fraction.divisor);
}

// Computes the result of an operation on scalars from integers; nothing if it may differ.
using IntegerFunction = std::optional<OutputPort> (*)(NodeLowering& cast, const ir::Node& node,
                                                      llvm::ArrayRef<OutputPort> operands);

std::optional<OutputPort> ComputeUnary(NodeLowering& cast, const ir::Node& node,
                                       llvm::ArrayRef<OutputPort> operands) {
  return cast.Unary(node.info().equivalent, operands[0]);
}

std::optional<OutputPort> ComputeBinary(NodeLowering& cast, const ir::Node& node,
                                        llvm::ArrayRef<OutputPort> operands) {
  return cast.Binary(node.info().equivalent, operands[0], operands[1]);
}

// Rounding of integers.
std::optional<OutputPort> ComputeIdentity(NodeLowering&, const ir::Node&,
                                          llvm::ArrayRef<OutputPort> operands) {
  return operands[0];
}

std::optional<OutputPort> ComputeSquare(NodeLowering& cast, const ir::Node&,
                                        llvm::ArrayRef<OutputPort> operands) {
  return cast.Binary("Multiply", operands[0], operands[0]);
}

std::optional<OutputPort> ComputePower(NodeLowering& cast, const ir::Node& node,
                                       llvm::ArrayRef<OutputPort> operands) {
  if (!HasNaturalExponents(cast.state().source, node)) return std::nullopt;
  return ComputeBinary(cast, node, operands);
}

// Rounds the border down. Returns nothing if it is not in the range of integers.
std::optional<OutputPort> ComputePad(NodeLowering& cast, const ir::Node& node,
                                     llvm::ArrayRef<OutputPort> operands) {
  constexpr double kRange = 0x1p63;
  const double value = std::floor(static_cast<float>(node.attribute("value").AsDouble()));
  if (!(value >= -kRange && value < kRange)) return std::nullopt;
  return PadBy(cast, node, operands[0], value);
}

std::optional<OutputPort> ComputeRelu(NodeLowering& cast, const ir::Node&,
                                      llvm::ArrayRef<OutputPort> operands) {
  return cast.Binary("Maximum", operands[0], cast.ConstInt(0, "zero"));
}

// max(min(x, b), a)
std::optional<OutputPort> ComputeClamp(NodeLowering& cast, const ir::Node&,
                                       llvm::ArrayRef<OutputPort> operands) {
  return cast.Binary("Maximum", cast.Binary("Minimum", operands[0], operands[2]), operands[1]);
}

std::optional<OutputPort> ComputeReduction(NodeLowering& cast, const ir::Node& node,
                                           llvm::ArrayRef<OutputPort> operands) {
  return Reduce(cast, node.info().equivalent, operands[0], node.attribute("axes").AsInts());
}

// Computes an operation that moves or adds numbers by its lowering for scalars.
std::optional<OutputPort> ComputeAsLowered(NodeLowering& cast, const ir::Node& node,
                                           llvm::ArrayRef<OutputPort> operands) {
  NodeLowering lowering(cast.state(), node.id());
  for (size_t i = 0; i < operands.size(); ++i) lowering.ReplaceInput(static_cast<int32_t>(i), operands[i]);
  return lowering.Capture(StandardLowerings().lookup(node.info().name).function).front();
}

// Returns the largest integers, which the lowering of the selection converts to scalars.
std::optional<OutputPort> ComputeTopK(NodeLowering& cast, const ir::Node& node, llvm::ArrayRef<OutputPort>) {
  if (!IntegersBefore(cast, node.input(0))) return std::nullopt;
  const ir::Node& converted = cast.target().node(cast.input(0).node);
  return converted.input(0);
}

const IntegerFunction* FindIntegerFunction(ir::OpId op) {
  static const ir::OpTable<IntegerFunction> table(ir::StandardOps(), ir::kNnefSet,
                                                  {{"add", ComputeBinary},
                                                   {"sub", ComputeBinary},
                                                   {"mul", ComputeBinary},
                                                   {"min", ComputeBinary},
                                                   {"max", ComputeBinary},
                                                   {"neg", ComputeUnary},
                                                   {"abs", ComputeUnary},
                                                   {"floor", ComputeIdentity},
                                                   {"ceil", ComputeIdentity},
                                                   {"round", ComputeIdentity},
                                                   {"sqr", ComputeSquare},
                                                   {"pow", ComputePower},
                                                   {"pad", ComputePad},
                                                   {"relu", ComputeRelu},
                                                   {"clamp", ComputeClamp},
                                                   {"sum_reduce", ComputeReduction},
                                                   {"max_reduce", ComputeReduction},
                                                   {"min_reduce", ComputeReduction},
                                                   {"tract_core_product_reduce", ComputeReduction},
                                                   {"tract_core_cumsum", ComputeAsLowered},
                                                   {"tract_core_scatter_elements", ComputeAsLowered},
                                                   {"tract_core_scatter_nd", ComputeAsLowered},
                                                   {"tract_core_topk", ComputeTopK},
                                                   {"tract_core_topk_by", ComputeTopK}});
  return table.Find(op);
}

}  // namespace

std::optional<OutputPort> LowerInIntegers(NodeLowering& cast) {
  const ir::Graph& source = cast.state().source;
  const ir::Node& node = source.node(cast.node().input(0).node);
  if (cast.DataType() != ElementType::kI64) return std::nullopt;
  if (const ir::Node* rounded = TruncatedNumber(source, node)) {
    if (Is(*rounded, "pow")) {
      const auto operands = IntegerOperands(cast, *rounded);
      return operands ? std::optional(cast.Binary("Power", (*operands)[0], (*operands)[1])) : std::nullopt;
    }
    const std::optional<Fraction> fraction = ReadFraction(cast, *rounded);
    return fraction ? std::optional(Truncated(cast, fraction->dividend, fraction->divisor)) : std::nullopt;
  }
  if (const ir::Node* quotient = FlooredFraction(source, node)) {
    const std::optional<Fraction> fraction = ReadFraction(cast, *quotient);
    return fraction ? std::optional(Floored(cast, *fraction)) : std::nullopt;
  }
  const IntegerFunction* compute = FindIntegerFunction(node.op());
  if (compute == nullptr) return std::nullopt;
  const auto operands = IntegerOperands(cast, node);
  return operands ? (*compute)(cast, node, *operands) : std::nullopt;
}

std::optional<std::vector<OutputPort>> IntegerOperands(NodeLowering& n, const ir::Node& node) {
  std::vector<OutputPort> operands;
  for (int32_t i = 0; i < node.num_inputs(); ++i) {
    const std::optional<OutputPort> integers = IntegersAt(n, node.input(i));
    if (!integers) return std::nullopt;
    operands.push_back(*integers);
  }
  return operands;
}

}  // namespace nnefc::lower

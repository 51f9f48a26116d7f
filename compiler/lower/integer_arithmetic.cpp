#include "compiler/lower/integer_arithmetic.h"

#include <algorithm>
#include <cmath>

#include "compiler/ir/op_registry.h"

namespace nnefc::lower {

namespace {

// The bound on integers in the document that f64 represents exactly.
constexpr double kMaxExact = 1LL << 53;

// Returns the OpenVINO operation that computes the same function of integers.
const std::string_view* OperationOn(ir::OpId op) {
  static const ir::OpTable<std::string_view> table(ir::StandardOps(), ir::kNnefSet,
                                                   {{"add", "Add"},
                                                    {"sub", "Subtract"},
                                                    {"mul", "Multiply"},
                                                    {"min", "Minimum"},
                                                    {"max", "Maximum"},
                                                    {"neg", "Negative"},
                                                    {"abs", "Abs"}});
  return table.Find(op);
}

bool IsCast(ir::OpId op) {
  static const ir::OpTable<bool> table(ir::StandardOps(), ir::kNnefSet, {{"cast", true}});
  return table.Find(op) != nullptr;
}

OutputPort TargetOf(NodeLowering& n, OutputPort source) {
  return n.state().ports[static_cast<size_t>(source.node.index)][static_cast<size_t>(source.index)];
}

// Returns the integers that became the scalars at `source`: the input of a cast, or an integral constant.
std::optional<OutputPort> IntegersAt(NodeLowering& n, OutputPort source) {
  const ir::Node& node = n.state().source.node(source.node);
  if (IsCast(node.op()) && n.state().source.output(node.input(0)).type == ElementType::kI64)
    return TargetOf(n, node.input(0));
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

// The operations of a quotient that is rounded toward zero.
enum class Part : uint8_t { kQuotient, kBelowZero, kUp, kDown, kChoice };

bool Is(const ir::Node& node, Part part) {
  static const ir::OpTable<Part> table(ir::StandardOps(), ir::kNnefSet,
                                       {{"div", Part::kQuotient},
                                        {"lt", Part::kBelowZero},
                                        {"ceil", Part::kUp},
                                        {"floor", Part::kDown},
                                        {"select", Part::kChoice}});
  const Part* found = table.Find(node.op());
  return found != nullptr && *found == part;
}

// Returns the quotient that `choice` rounds toward zero (ceil if negative, else floor), or null.
const ir::Node* QuotientOf(const ir::Graph& graph, const ir::Node& choice) {
  if (!Is(choice, Part::kChoice)) return nullptr;
  const ir::Node& negative = graph.node(choice.input(0).node);
  const ir::Node& up = graph.node(choice.input(1).node);
  const ir::Node& down = graph.node(choice.input(2).node);
  if (!Is(negative, Part::kBelowZero) || !Is(up, Part::kUp) || !Is(down, Part::kDown)) return nullptr;
  const ir::OutputPort quotient = down.input(0);
  if (up.input(0) != quotient || negative.input(0) != quotient) return nullptr;
  const ir::Node& zero = graph.node(negative.input(1).node);
  if (!zero.Is(ir::OpRole::kConstant) || zero.attribute("value").AsDoubles() != std::vector<double>{0.0})
    return nullptr;
  const ir::Node& divided = graph.node(quotient.node);
  return Is(divided, Part::kQuotient) ? &divided : nullptr;
}

// True if all divisors are known and not zero.
bool HasSafeDivisors(const ir::Graph& graph, const ir::Node& quotient) {
  const ir::Node& divisors = graph.node(quotient.input(1).node);
  if (!divisors.Is(ir::OpRole::kConstant)) return false;
  const std::vector<double> values = divisors.attribute("value").AsDoubles();
  return std::find(values.begin(), values.end(), 0.0) == values.end();
}

std::optional<OutputPort> LowerQuotient(NodeLowering& cast, const ir::Node& quotient) {
  if (!HasSafeDivisors(cast.state().source, quotient)) return std::nullopt;
  const auto operands = IntegerOperands(cast, quotient);
  if (!operands) return std::nullopt;
  return cast.Add("opset1", "Divide", *operands,
                  Attributes({{"auto_broadcast", "numpy"}, {"m_pythondiv", false}}));
}

}  // namespace

std::optional<OutputPort> LowerInIntegers(NodeLowering& cast) {
  const ir::Node& node = cast.state().source.node(cast.node().input(0).node);
  if (cast.DataType() != ElementType::kI64) return std::nullopt;
  if (const ir::Node* quotient = QuotientOf(cast.state().source, node)) return LowerQuotient(cast, *quotient);
  const std::string_view* operation = OperationOn(node.op());
  if (operation == nullptr) return std::nullopt;
  const auto operands = IntegerOperands(cast, node);
  if (!operands) return std::nullopt;
  return operands->size() == 1 ? cast.Unary(*operation, (*operands)[0])
                               : cast.Binary(*operation, (*operands)[0], (*operands)[1]);
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

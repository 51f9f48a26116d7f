#include "compiler/lower/integer_arithmetic.h"

#include <cmath>

#include "compiler/ir/op_registry.h"

namespace nnefc::lower {

namespace {

// Those below which every whole number has a form of its own, as the document writes it.
constexpr double kMaxExact = 1LL << 53;

// The operation of OpenVINO that computes the same of integers.
const std::string_view* OperationOn(ir::OpId op) {
  static const ir::OpTable<std::string_view> table(ir::StandardOps(), {{"add", "Add"},
                                                                       {"sub", "Subtract"},
                                                                       {"mul", "Multiply"},
                                                                       {"min", "Minimum"},
                                                                       {"max", "Maximum"},
                                                                       {"neg", "Negative"},
                                                                       {"abs", "Abs"}});
  return table.Find(op);
}

bool IsCast(ir::OpId op) {
  static const ir::OpTable<bool> table(ir::StandardOps(), {{"cast", true}});
  return table.Find(op) != nullptr;
}

OutputPort TargetOf(NodeLowering& n, OutputPort source) {
  return n.state().ports[static_cast<size_t>(source.node.index)][static_cast<size_t>(source.index)];
}

// The integers that are seen as scalars at `source`: of a cast, or of whole constants.
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

}  // namespace

std::optional<OutputPort> LowerInIntegers(NodeLowering& cast) {
  const ir::Node& node = cast.state().source.node(cast.node().input(0).node);
  const std::string_view* operation = OperationOn(node.op());
  if (operation == nullptr || cast.DataType() != ElementType::kI64) return std::nullopt;
  std::vector<OutputPort> operands;
  for (int32_t i = 0; i < node.num_inputs(); ++i) {
    const std::optional<OutputPort> integers = IntegersAt(cast, node.input(i));
    if (!integers) return std::nullopt;
    operands.push_back(*integers);
  }
  return operands.size() == 1 ? cast.Unary(*operation, operands[0])
                              : cast.Binary(*operation, operands[0], operands[1]);
}

}  // namespace nnefc::lower

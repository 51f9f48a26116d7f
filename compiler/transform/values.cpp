// Compile-time values at ports of a graph.

#include "compiler/transform/values.h"

#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform {
namespace {

bool HasNodeOf(const ir::Graph& graph, ir::OpId operation) {
  return llvm::any_of(graph.nodes(), [&](ir::NodeId id) {
    const ir::Node& node = graph.node(id);
    return node.op() == operation || llvm::any_of(node.bodies(), [&](const ir::Body& body) {
             return HasNodeOf(*body.graph, operation);
           });
  });
}

}  // namespace

std::optional<std::vector<int64_t>> KnownInts(const Port& port) {
  const std::optional<TensorValue>& value = port.value();
  if (!value) return std::nullopt;
  std::vector<int64_t> ints;
  for (int64_t i = 0; i < value->volume(); ++i) ints.push_back(value->ElementAsInt(i));
  return ints;
}

std::optional<std::vector<int64_t>> KnownOrder(const Node& transpose) {
  std::optional<std::vector<int64_t>> order = KnownInts(transpose.in_port(1));
  if (!order) return std::nullopt;
  const auto rank = static_cast<int64_t>(order->size());
  for (int64_t& axis : *order) axis += axis < 0 ? rank : 0;
  return order;
}

std::optional<double> KnownNumber(const Port& port) {
  const std::optional<TensorValue>& value = port.value();
  if (!value || value->volume() == 0) return std::nullopt;
  const double first = value->ElementAsDouble(0);
  for (int64_t i = 1; i < value->volume(); ++i) {
    if (value->ElementAsDouble(i) != first) return std::nullopt;
  }
  return first;
}

std::vector<int64_t> WithLastAxesSwapped(std::vector<int64_t> order) {
  NNEFC_CHECK(order.size() >= 2);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return order;
}

bool KeepsAxes(const std::vector<int64_t>& order) {
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

bool IsOperation(const Node& node, std::string_view set, std::string_view name) {
  return node.ir().op() == node.graph().ir().registry().Find(set, name);
}

bool HasOperation(const ir::Graph& graph, std::string_view set, std::string_view name) {
  const ir::OpId operation = graph.registry().Find(set, name);
  return operation.valid() && HasNodeOf(graph, operation);
}

std::optional<Port> OtherInput(const Node& node, const Node& one) {
  if (node.num_in_ports() != 2) return std::nullopt;
  const bool first = node.in_node(0) == one;
  if (first == (node.in_node(1) == one)) return std::nullopt;
  return node.in_port(first ? 1 : 0).GetSource();
}

std::optional<Port> OnlyDestination(const Port& output) {
  const std::vector<Port> destinations = output.GetDestinations();
  if (destinations.size() != 1) return std::nullopt;
  return destinations.front();
}

Port MakePart(Graph& graph, const Node& whole, std::string_view part, std::string_view operation,
              llvm::ArrayRef<Port> inputs, ir::AttributeMap attributes) {
  return graph
      .CreateNode(operation, inputs,
                  {.name = graph.UniqueName(fmt::format("{}{}", whole.name(), part)),
                   .attributes = std::move(attributes),
                   .origin = whole.ir().origin()})
      .out_port(0);
}

Port MakeInts(Graph& graph, const Node& whole, std::string_view part, llvm::ArrayRef<int64_t> numbers) {
  const auto count = static_cast<int64_t>(numbers.size());
  return graph
      .CreateConst(TensorValue::FromInts({count}, numbers),
                   graph.UniqueName(fmt::format("{}{}", whole.name(), part)))
      .out_port(0);
}

void TakePlace(Graph& graph, const Node& last, const Node& made) {
  last.out_port(0).GetConnection().SetSource(made.out_port(0));
  graph.TakeName(last, made);
}

}  // namespace nnefc::transform

// Copies of the structure of graphs.

#include "tools/api/differences/graph_outline.h"

#include <algorithm>

#include "compiler/ir/text/text.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "llvm/ADT/STLExtras.h"
#include "tools/api/facts/document_facts.h"
#include "tools/api/internals.h"

namespace nnefc::api {
namespace {

// Constants of graphs of OpenVINO operations with at most this number of integers are literals: axes, shapes.
constexpr int64_t kMaxLiteral = 16;
// The maximum number of elements of a literal that a text shows.
constexpr int64_t kMaxShown = 8;

// Returns the text of a value: `[2, 2]`.
std::string AttributeText(const std::string& name, const ir::Attribute& value) {
  ir::AttributeMap one;
  one.Set(name, value);
  const std::string text = ir::PrintAttributes(one);  // {name = value}
  const size_t begin = text.find(" = ") + 3;
  return text.substr(begin, text.rfind('}') - begin);
}

OutlineNode::Kind OutlineKindOf(const ir::Node& node) {
  switch (node.info().role) {
    case ir::OpRole::kParameter:
    case ir::OpRole::kExternal:
      return OutlineNode::Kind::kInput;
    case ir::OpRole::kVariable:
      return OutlineNode::Kind::kVariable;
    case ir::OpRole::kConstant:
      return OutlineNode::Kind::kLiteral;
    case ir::OpRole::kConst: {
      const ir::Output& output = node.output();
      if (!output.value) return OutlineNode::Kind::kVariable;
      const bool is_small = output.value->volume() <= (IsFloat(output.type) ? 1 : kMaxLiteral);
      return is_small ? OutlineNode::Kind::kLiteral : OutlineNode::Kind::kVariable;
    }
    default:
      return OutlineNode::Kind::kOperation;
  }
}

template <typename Mappings>
std::string MappingsText(const Mappings& mappings) {
  std::string text;
  for (const auto& each : mappings) {
    text += fmt::format(" {}:{}", each.external, each.internal);
    if (each.axis)
      text += fmt::format("({},{},{},{},{})", *each.axis, each.start, each.end, each.stride, each.part_size);
  }
  return text;
}

std::string ConnectionsText(const ir::Body& body) {
  std::string text = "in" + MappingsText(body.inputs) + " out" + MappingsText(body.outputs) + " back";
  for (const ir::BackEdge& edge : body.back_edges) text += fmt::format(" {}:{}", edge.result, edge.parameter);
  return text;
}

class Outliner {
 public:
  Outliner(const ir::Graph& graph, const ShapeOf& shape_of) : graph_(graph), shape_of_(shape_of) {}

  GraphOutline Outline() {
    const std::optional<std::vector<ir::NodeId>> order = ir::TopologicalOrder(graph_);
    NNEFC_CHECK(order.has_value());
    std::vector<size_t> indices(graph_.node_bound(), 0);
    for (const ir::NodeId id : *order) {
      const ir::Node& node = graph_.node(id);
      if (node.Is(ir::OpRole::kResult)) continue;
      indices[static_cast<size_t>(id.index)] = outline_.nodes.size();
      OutlineNode& made = outline_.nodes.emplace_back(OutlineNodeOf(node));
      for (const ir::OutputPort input : node.inputs())
        made.inputs.emplace_back(indices[static_cast<size_t>(input.node.index)], input.index);
    }
    for (const ir::NodeId id : graph_.parameters())
      outline_.inputs.push_back(indices[static_cast<size_t>(id.index)]);
    for (const ir::NodeId id : graph_.results()) {
      const ir::OutputPort source = graph_.node(id).input(0);
      outline_.outputs.push_back({.port = MakePort(graph_.node(id).name(), source),
                                  .node = indices[static_cast<size_t>(source.node.index)],
                                  .output = source.index,
                                  .id = id.index});
    }
    for (const ir::NodeId id : graph_.nodes()) {
      const ir::Node& node = graph_.node(id);
      if (!node.info().is_source && !node.Is(ir::OpRole::kResult) && OutlineKindOf(node) == Kind::kOperation)
        outline_.operations.push_back(indices[static_cast<size_t>(id.index)]);
    }
    return std::move(outline_);
  }

 private:
  using Kind = OutlineNode::Kind;

  Port MakePort(const std::string& name, ir::OutputPort port) const {
    const ir::Output& output = graph_.output(port);
    return ToPort(name, output.type,
                  shape_of_ ? shape_of_(graph_.node(port.node), port.index) : output.shape);
  }

  OutlineNode OutlineNodeOf(const ir::Node& node) const {
    OutlineNode made = {
        .kind = OutlineKindOf(node), .set = node.set(), .type = node.type(), .name = OutputName(node, 0)};
    made.id = node.id().index;
    if (made.kind == Kind::kVariable)
      made.name = node.Is(ir::OpRole::kVariable) ? node.attribute("label").AsString() : node.name();
    for (int32_t i = 0; i < node.num_outputs(); ++i)
      made.outputs.push_back(MakePort(OutputName(node, i), node.port(i)));
    if (made.kind == Kind::kVariable || made.kind == Kind::kLiteral) {
      if (node.output().value) made.value = *node.output().value;
    } else if (made.kind == Kind::kOperation) {
      for (const auto& [name, value] : node.attributes())
        made.attributes.emplace_back(name, AttributeText(name, value));
      for (const ir::AttributeInfo& info : node.info().attributes) {
        if (info.fallback && node.attributes().Find(info.name) == nullptr)
          made.defaults.emplace_back(info.name, AttributeText(info.name, *info.fallback));
      }
      made.segments.assign(node.segments().begin(), node.segments().end());
      for (const ir::Body& body : node.bodies())
        made.bodies.push_back({body.role, ConnectionsText(body), OutlineOf(*body.graph)});
    }
    return made;
  }

  const ir::Graph& graph_;
  const ShapeOf& shape_of_;
  GraphOutline outline_;
};

// Returns the elements of a small literal: `0.5`, `[1, 2]`, or its type and shape.
std::string LiteralText(const OutlineNode& node) {
  if (!node.value || node.value->volume() > kMaxShown) return PortText(node.outputs.front());
  const TensorValue& value = *node.value;
  std::vector<std::string> elements;
  for (int64_t i = 0; i < value.volume(); ++i) {
    if (IsFloat(value.type()))
      elements.push_back(fmt::format("{:#}", static_cast<float>(value.ElementAsDouble(i))));
    else if (value.type() == ElementType::kBoolean)
      elements.emplace_back(value.ElementAsInt(i) != 0 ? "true" : "false");
    else
      elements.push_back(fmt::format("{}", value.ElementAsInt(i)));
  }
  if (value.volume() == 1) return elements.front();
  return fmt::format("[{}]", fmt::join(elements, ", "));
}

}  // namespace

GraphOutline OutlineOf(const ir::Graph& graph, const ShapeOf& shape_of) {
  return Outliner(graph, shape_of).Outline();
}

GraphOutline OutlineOf(const driver::Compilation& compilation) {
  return OutlineOf(compilation.graph(), [&](const ir::Node& node, int32_t output) {
    return ShownShape(compilation, node, output);
  });
}

std::string PortText(const Port& port) {
  if (!port.shape) return fmt::format("{}: {}[?]", port.name, Name(port.type));
  std::vector<std::string> extents;
  for (const int64_t extent : *port.shape) extents.push_back(extent < 0 ? "?" : std::to_string(extent));
  return fmt::format("{}: {}[{}]", port.name, Name(port.type), fmt::join(extents, ","));
}

std::string InputText(const GraphOutline& graph, std::pair<size_t, int32_t> input) {
  const OutlineNode& node = graph.nodes[input.first];
  if (node.kind == OutlineNode::Kind::kLiteral) return LiteralText(node);
  return node.outputs[static_cast<size_t>(input.second)].name;
}

std::string OperationText(const GraphOutline& graph, size_t index) {
  const OutlineNode& node = graph.nodes[index];
  std::vector<std::string> results;
  results.reserve(node.outputs.size());
  for (const Port& port : node.outputs) results.push_back(PortText(port));
  std::vector<std::string> arguments;
  arguments.reserve(node.inputs.size() + node.attributes.size());
  for (const auto& input : node.inputs) arguments.push_back(InputText(graph, input));
  for (const auto& [name, value] : node.attributes) arguments.push_back(fmt::format("{} = {}", name, value));
  return fmt::format("{}{}{}({})", fmt::join(results, ", "), results.empty() ? "" : " = ", node.type,
                     fmt::join(arguments, ", "));
}

}  // namespace nnefc::api

// Port maps of OpenVINO operations with bodies: checks, and the types they pass to bodies.

#include "compiler/ir/ops/opset/control_flow/port_maps.h"

#include <algorithm>
#include <functional>

namespace nnefc::ir::ops::opset {

namespace {

constexpr int kDeepest = 1000;  // far beyond the nesting in any file

// Counts the uses of each of `size` ports; emits an error if an index is out of range.
template <typename Mappings, typename Member>
std::optional<std::vector<int>> CountUses(OpContext& op, const Body& body, const Mappings& mappings,
                                          Member member, size_t size, bool special, std::string_view what) {
  std::vector<int> uses(size, 0);
  for (const auto& mapping : mappings) {
    const int32_t place = mapping.*member;
    if (place == -1 && special) continue;
    if (place < 0 || static_cast<size_t>(place) >= size) {
      op.Error(kPortMap, "the port map of `{}` of {} names {} {}; there are {}", body.role,
               LayerText(op.node()), what, place, size);
      return std::nullopt;
    }
    ++uses[static_cast<size_t>(place)];
  }
  return uses;
}

}  // namespace

std::string LayerText(const Node& node) {
  return node.name().empty() ? fmt::format("`{}`", node.type())
                             : fmt::format("`{}` ({})", node.name(), node.type());
}

bool CheckPortMap(OpContext& op, size_t index, bool special) {
  const Body& body = op.node().bodies()[index];
  const Graph& graph = *body.graph;
  const std::string layer = LayerText(op.node());
  const auto num_inputs = static_cast<size_t>(op.num_inputs());
  const auto num_outputs = static_cast<size_t>(op.node().num_outputs());
  if (graph.results().empty()) {
    op.Error(kPortMap, "`{}` of {} has no Result", body.role, layer);
    return false;
  }
  const auto inputs = CountUses(op, body, body.inputs, &InputMapping::external, num_inputs, special, "input");
  const auto parameters = CountUses(op, body, body.inputs, &InputMapping::internal, graph.parameters().size(),
                                    false, "parameter");
  const auto outputs =
      CountUses(op, body, body.outputs, &OutputMapping::external, num_outputs, special, "output");
  const auto results =
      CountUses(op, body, body.outputs, &OutputMapping::internal, graph.results().size(), false, "result");
  if (!inputs || !parameters || !outputs || !results) return false;
  const auto name_of = [&](NodeId id) { return graph.node(id).name(); };
  for (size_t i = 0; i < parameters->size(); ++i) {
    if ((*parameters)[i] == 1) continue;
    op.Error(kPortMap, "the parameter `{}` in `{}` of {} is fed {} times; expected once",
             name_of(graph.parameters()[i]), body.role, layer, (*parameters)[i]);
    return false;
  }
  for (size_t i = 0; i < outputs->size(); ++i) {
    if ((*outputs)[i] == 1) continue;
    op.Error(kPortMap, "output {} of {} is associated with {} results of `{}`; expected one", i, layer,
             (*outputs)[i], body.role);
    return false;
  }
  return true;
}

const Output& BodyResult(const Graph& graph, int32_t result) {
  return graph.output(graph.node(graph.results()[static_cast<size_t>(result)]).input(0));
}

ElementType BodyParameterType(const Graph& graph, int32_t parameter) {
  return graph.node(graph.parameters()[static_cast<size_t>(parameter)]).output().type;
}

bool FeedParameter(OpContext& op, size_t index, int32_t parameter, ElementType type,
                   const PartialShape& shape) {
  const Body& body = op.node().bodies()[index];
  const ElementType expected = BodyParameterType(*body.graph, parameter);
  const bool known = expected != ElementType::kDynamic && type != ElementType::kDynamic;
  if (known && expected != type) {
    op.Error(kBodyType, "the parameter `{}` in `{}` of {} has the element type {}; it is fed {}",
             body.graph->node(body.graph->parameters()[static_cast<size_t>(parameter)]).name(), body.role,
             LayerText(op.node()), Name(expected), Name(type));
    return false;
  }
  op.raw().SetBodyParameter(index, parameter, type == ElementType::kDynamic ? expected : type, shape);
  return true;
}

int NestingHeight(const Node& node) {
  struct Visit {
    const Node* node;
    int height;
  };
  int highest = 0;
  std::vector<Visit> pending = {{&node, 1}};
  while (!pending.empty()) {
    const Visit visit = pending.back();
    pending.pop_back();
    highest = std::max(highest, visit.height);
    if (visit.height == kDeepest) continue;
    for (const Body& body : visit.node->bodies()) {
      for (NodeId id : body.graph->nodes()) {
        const Node& inner = body.graph->node(id);
        if (!inner.bodies().empty()) pending.push_back({&inner, visit.height + 1});
      }
    }
  }
  return highest;
}

}  // namespace nnefc::ir::ops::opset

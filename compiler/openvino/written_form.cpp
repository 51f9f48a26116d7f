#include "compiler/openvino/written_form.h"

#include <limits>

#include "compiler/ir/infer.h"
#include "compiler/ir/ops/opset/recurrent.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::openvino {

namespace {

constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();

// What a slice cuts out of its axis, in the numbers of Slice: a negative one
// counts from behind the last entry but one.
struct Cut {
  int64_t start = 0;
  int64_t stop = kToTheEnd;
};

// Nothing if the range is empty whatever the extent.
std::optional<Cut> CutOf(const ir::InputMapping& mapping) {
  const bool backward = mapping.stride < 0;
  const int64_t first = backward ? mapping.end : mapping.start;
  const int64_t last = backward ? mapping.start : mapping.end;
  if (first == -1) return std::nullopt;
  return Cut{first < 0 ? first + 1 : first, last == -1 ? kToTheEnd : last < 0 ? last + 1 : last};
}

// True if a loop's input has to be cut: it is sliced, and not as a whole.
bool IsPartial(const ir::Graph& graph, const ir::Node& node, const ir::InputMapping& mapping) {
  if (!mapping.axis || mapping.external < 0) return false;
  const std::optional<Cut> cut = CutOf(mapping);
  if (!cut || (cut->start == 0 && cut->stop == kToTheEnd)) return false;
  const ir::PartialShape& shape = graph.output(node.input(mapping.external)).shape;
  const bool is_axis = shape.rank_known() && *mapping.axis >= 0 && *mapping.axis < shape.rank();
  const ir::Dim extent = is_axis ? shape[*mapping.axis] : ir::Dim();
  return !(cut->start == 0 && extent.known() && cut->stop == extent.value());
}

bool NeedsForm(const ir::Graph& graph) {
  return llvm::any_of(graph.nodes(), [&](ir::NodeId id) {
    const ir::Node& node = graph.node(id);
    if (ir::HasJoinedWeights(graph, node)) return true;
    return llvm::any_of(node.bodies(), [&](const ir::Body& body) {
      return NeedsForm(*body.graph) ||
             llvm::any_of(body.inputs, [&](const auto& mapping) { return IsPartial(graph, node, mapping); });
    });
  });
}

// A copy of the graph, bodies too, to be changed; constants share their bytes.
// Recursion goes as deep as bodies are nested.
std::unique_ptr<ir::Graph> Copied(const ir::Graph& graph) {
  auto copy = std::make_unique<ir::Graph>(&graph.registry(), graph.name());
  for (const auto& [path, value] : graph.rt_info()) copy->SetRtInfo(path, value);
  std::vector<ir::NodeId> twins(graph.node_bound());
  const auto twin_of = [&](ir::NodeId id) -> ir::NodeId& { return twins[static_cast<size_t>(id.index)]; };
  const std::optional<std::vector<ir::NodeId>> order = graph.TopologicalOrder();
  NNEFC_CHECK(order.has_value());
  for (ir::NodeId id : *order) {
    const ir::Node& node = graph.node(id);
    llvm::SmallVector<ir::OutputPort, 4> inputs;
    for (ir::OutputPort port : node.inputs()) inputs.push_back({twin_of(port.node), port.index});
    const ir::NodeId twin = copy->AddNode({.op = node.op(),
                                           .name = node.name(),
                                           .inputs = inputs,
                                           .segments = node.segments(),
                                           .attributes = node.attributes(),
                                           .num_outputs = node.num_outputs(),
                                           .origin = node.origin()});
    twin_of(id) = twin;
    for (const auto& [path, value] : node.rt_info()) copy->SetRtInfo(twin, path, value);
    for (int32_t i = 0; i < node.num_outputs(); ++i) {
      const ir::Output& output = node.output(i);
      copy->SetOutputType({twin, i}, output.type, output.shape);
      copy->SetOutputValue({twin, i}, output.value);
      copy->SetOutputNames({twin, i}, output.names);
    }
    for (const ir::Body& body : node.bodies()) {
      copy->AddBody(twin, {.role = body.role,
                           .graph = Copied(*body.graph),
                           .inputs = body.inputs,
                           .outputs = body.outputs,
                           .back_edges = body.back_edges});
    }
  }
  for (ir::NodeId id : graph.parameters()) copy->AddToParameters(twin_of(id));
  for (ir::NodeId id : graph.results()) copy->AddToResults(twin_of(id));
  std::vector<ir::NodeId> sinks;
  for (ir::NodeId id : graph.sinks()) sinks.push_back(twin_of(id));
  copy->OrderSinks(sinks);
  return copy;
}

class Former {
 public:
  explicit Former(ir::Graph& graph) : graph_(graph) {}

  // Recursion goes as deep as bodies are nested.
  void Run() {
    for (ir::NodeId id : graph_.nodes()) {
      for (size_t i = 0; i < graph_.node(id).bodies().size(); ++i) {
        CutInputs(id, i);
        Former(*graph_.body(id, i).graph).Run();
      }
      if (ir::HasJoinedWeights(graph_, graph_.node(id))) SplitWeights(id);
    }
  }

 private:
  void CutInputs(ir::NodeId id, size_t index) {
    const size_t count = graph_.node(id).bodies()[index].inputs.size();
    for (size_t i = 0; i < count; ++i) {
      const ir::InputMapping mapping = graph_.node(id).bodies()[index].inputs[i];
      if (!IsPartial(graph_, graph_.node(id), mapping)) continue;
      const ir::OutputPort whole = graph_.node(id).input(mapping.external);
      const std::string suffix = fmt::format("part{}", mapping.external);
      graph_.SetInput(id, mapping.external, Slice(id, whole, *mapping.axis, *CutOf(mapping), suffix));
      ir::InputMapping& written = graph_.body(id, index).inputs[i];
      written.start = mapping.stride < 0 ? -1 : 0;
      written.end = mapping.stride < 0 ? 0 : -1;
    }
  }

  // W has the columns of the inputs, R the last ones, of the state.
  void SplitWeights(ir::NodeId id) {
    const ir::Node& joined = graph_.node(id);
    const int64_t hidden = joined.attribute("hidden_size").AsInt();
    const ir::OutputPort weights = joined.input(3);
    const ir::OutputPort w = Slice(id, weights, 1, {0, -hidden}, "w");
    const ir::OutputPort r = Slice(id, weights, 1, {-hidden, kToTheEnd}, "r");
    const ir::NodeId cell =
        graph_.AddNode({.op = joined.op(),
                        .name = joined.name(),
                        .inputs = {joined.input(0), joined.input(1), joined.input(2), w, r, joined.input(4)},
                        .attributes = joined.attributes(),
                        .num_outputs = joined.num_outputs(),
                        .origin = joined.origin()});
    for (const auto& [path, value] : joined.rt_info()) graph_.SetRtInfo(cell, path, value);
    for (int32_t i = 0; i < joined.num_outputs(); ++i) {
      graph_.SetOutputType({cell, i}, joined.output(i).type, joined.output(i).shape);
      graph_.SetOutputNames({cell, i}, joined.output(i).names);
      graph_.ReplaceAllUses({id, i}, {cell, i});
    }
    graph_.Erase(id);
  }

  ir::OutputPort Slice(ir::NodeId user, ir::OutputPort whole, int64_t axis, const Cut& cut,
                       std::string_view suffix) {
    const std::string name = fmt::format("{}/{}", graph_.node(user).name(), suffix);
    const ir::Origin origin = graph_.node(user).origin();
    const auto constant = [&](int64_t value, std::string_view what) {
      return ir::OutputPort{
          graph_.AddConst(TensorValue::FromInts({1}, {value}), fmt::format("{}_{}", name, what), origin), 0};
    };
    const ir::OutputPort inputs[] = {whole, constant(cut.start, "start"), constant(cut.stop, "stop"),
                                     constant(1, "step"), constant(axis, "axes")};
    const ir::NodeId slice =
        graph_.AddNode("opset8", "Slice", {.name = name, .inputs = inputs, .origin = origin});
    Emitter emitter;  // what is cut was judged with the loop or the cell
    ir::InferNode(graph_, slice, emitter);
    return {slice, 0};
  }

  ir::Graph& graph_;
};

}  // namespace

std::unique_ptr<ir::Graph> WrittenForm(const ir::Graph& graph) {
  if (!NeedsForm(graph)) return nullptr;
  std::unique_ptr<ir::Graph> form = Copied(graph);
  Former(*form).Run();
  return form;
}

}  // namespace nnefc::openvino

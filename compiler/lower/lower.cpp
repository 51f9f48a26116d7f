// The entry point of lowering: converts a graph of NNEF operations to OpenVINO operations, node by node.

#include "compiler/lower/lower.h"

#include <exception>
#include <new>

#include "compiler/ir/algorithms/copy.h"
#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/algorithms/verify.h"
#include "compiler/ir/ops/windows/sliding_window_shape.h"
#include "compiler/ir/wording.h"
#include "compiler/lower/arithmetic/quantized.h"
#include "compiler/lower/bodies.h"
#include "compiler/lower/facts.h"
#include "compiler/lower/node_lowering.h"
#include "compiler/lower/rules.h"
#include "compiler/lower/table.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::lower {

// Lowers a graph that is nested in `depth` bodies. The recursion depth is at most ir::kMaxBodyNesting.
std::unique_ptr<ir::Graph> LowerBody(const ir::Graph& graph, const LowerOptions& options, Context& context,
                                     int depth, bool in_loop);

namespace {

// True if the ranks of all inputs and outputs are known, as most lowerings require; otherwise reports the
// first unknown one.
bool HasRanks(NodeLowering& lowering) {
  const ir::Node& node = lowering.node();
  for (int32_t i = 0; i < node.num_inputs(); ++i) {
    if (lowering.input_shape(i).rank_known()) continue;
    lowering.Error(kUnknownRank, "lowering `{}` needs the rank of its input {}, which is unknown",
                   ir::OperationName(node), i);
    return false;
  }
  for (int32_t i = 0; i < node.num_outputs(); ++i) {
    if (node.output(i).shape.rank_known()) continue;
    lowering.Error(kUnknownRank, "lowering `{}` needs the rank of its output {}, which is unknown",
                   ir::OperationName(node), i);
    return false;
  }
  return true;
}

// Infers a copy of a body of If-8: inference skips the unselected body of a constant condition, but lowerings
// of NNEF operations read valid arguments only. Returns null after a reported error.
std::unique_ptr<ir::Graph> CheckedCopy(NodeLowering& lowering, const ir::Graph& body) {
  std::unique_ptr<ir::Graph> copy = ir::Clone(body);
  if (ir::InferGraph(*copy, lowering.state().context.emitter)) return copy;
  lowering.state().failed = true;
  return nullptr;
}

// Returns true if the graph or a body in it holds an operation of NNEF.
bool HasNnefOperation(const ir::Graph& graph) {
  return llvm::any_of(graph.nodes(), [&](ir::NodeId id) {
    const ir::Node& node = graph.node(id);
    return node.set() == ir::kNnefSet ||
           llvm::any_of(node.bodies(), [](const ir::Body& body) { return HasNnefOperation(*body.graph); });
  });
}

// Lowers the bodies of a preserved node.
void LowerBodies(NodeLowering& lowering, ir::NodeId preserved) {
  const bool is_constant = lowering.node().Is(ir::OpRole::kIf) && lowering.source_input(0).value.has_value();
  for (const ir::Body& body : lowering.node().bodies()) {
    std::unique_ptr<ir::Graph> checked;
    if (is_constant && HasNnefOperation(*body.graph)) {
      checked = CheckedCopy(lowering, *body.graph);
      if (checked == nullptr) return;
    }
    std::unique_ptr<ir::Graph> graph = LowerBodyOf(lowering, checked != nullptr ? *checked : *body.graph);
    if (graph == nullptr) return;
    lowering.state().target.AddBody(preserved, {.role = body.role,
                                                .graph = std::move(graph),
                                                .inputs = body.inputs,
                                                .outputs = body.outputs,
                                                .back_edges = body.back_edges});
  }
}

// Calls the lowering of a plug-in. It may throw.
void LowerByPlugin(NodeLowering& lowering, LowerFunction function) {
  const ir::Node& node = lowering.node();
  const auto fail = [&](const char* what) {
    lowering.Error(kLoweringFailed, "the lowering of `{}`, which a plug-in brings, failed: {}",
                   ir::OperationName(node), what);
  };
  try {
    function(lowering);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return fail(error.what());
  } catch (...) {
    return fail("it threw something other than a std::exception");
  }
  const auto& ports = lowering.state().ports[static_cast<size_t>(node.id().index)];
  const bool has_all = llvm::all_of(ports, [](ir::OutputPort port) { return port.valid(); });
  if (!has_all && !lowering.state().failed) fail("it left an output unset");
}

void LowerNode(LowerState& state, const LoweringTable& table, ir::NodeId id) {
  const ir::Node& node = state.source.node(id);
  NodeLowering lowering(state, id);
  if (node.set() != ir::kNnefSet) {
    LowerBodies(lowering, lowering.Keep());
    return;
  }
  const auto entry = table.find(node.type());
  const LowerFunction added = entry == table.end() && state.options.find_lowering
                                  ? state.options.find_lowering(node.type())
                                  : nullptr;
  if (added != nullptr) {
    if (HasRanks(lowering)) LowerByPlugin(lowering, added);
  } else if (entry == table.end()) {
    lowering.Keep();
  } else if (const std::optional<int64_t> axis = ir::ops::OpenPadding(node)) {
    lowering.UnknownExtent("the tensor under an automatically padded window", *axis);
  } else if (const Lowering& known = entry->second; known.accepts_any_rank || HasRanks(lowering)) {
    const bool has_types = state.options.quantized != nullptr && state.depth == 0;
    if (!has_types || !LowerQuantized(lowering, known.function)) known.function(lowering);
  }
  lowering.Finish();
  state.non_negative[static_cast<size_t>(id.index)] = IsNonNegative(state.source, node, state.non_negative);
}

// Copies a tensor and moves the name from it to the copy.
ir::OutputPort CopyAs(LowerState& state, ir::OutputPort source, const std::string& name,
                      const ir::Origin& origin) {
  const ElementType type = state.target.output(source).type;
  std::vector<std::string> names = state.target.output(source).names;
  std::erase(names, name);
  state.target.SetOutputNames(source, std::move(names));
  const ir::NodeId copy = ir::AddInferred(state.target, "opset1", "Convert",
                                          {.name = name,
                                           .inputs = source,
                                           .attributes = Attributes({{"destination_type", type}}),
                                           .origin = origin},
                                          state.context.emitter)
                              .id;
  state.target.SetOutputNames({copy, 0}, {name});
  return {copy, 0};
}

// Adds the results, each a separate tensor. A result that only aliases a parameter or another result is
// copied, since OpenVINO shares the names of both if they share a tensor.
void AddResults(LowerState& state) {
  llvm::DenseSet<std::pair<int32_t, int32_t>> taken;
  for (ir::NodeId id : state.source.results()) {
    const ir::Node& result = state.source.node(id);
    const ir::OutputPort source = result.input(0);
    ir::OutputPort port =
        state.ports[static_cast<size_t>(source.node.index)][static_cast<size_t>(source.index)];
    const bool is_first = taken.insert({port.node.index, port.index}).second;
    if (!is_first || state.target.node(port.node).Is(ir::OpRole::kParameter))
      port = CopyAs(state, port, result.name(), result.origin());
    ir::AddResult(state.target, result.name(), port, result.origin());
  }
}

}  // namespace

const LoweringTable& StandardLowerings() {
  static const LoweringTable table = [] {
    LoweringTable made;
    RegisterFamilies(made);
    return made;
  }();
  return table;
}

std::unique_ptr<ir::Graph> LowerBody(const ir::Graph& graph, const LowerOptions& options, Context& context,
                                     int depth, bool in_loop) {
  const LoweringTable& table = StandardLowerings();
  LowerState state(graph, options, context);
  state.depth = depth;
  state.in_loop = in_loop;
  const std::optional<std::vector<ir::NodeId>> order = ir::TopologicalOrder(graph);
  NNEFC_CHECK(order.has_value());
  FindUpdatedVariables(state);
  const auto port_of = [&](ir::OutputPort port) {
    return state.ports[static_cast<size_t>(port.node.index)][static_cast<size_t>(port.index)];
  };
  for (ir::NodeId id : graph.parameters()) {
    LowerNode(state, table, id);
    if (graph.node(id).set() != ir::kNnefSet) state.target.AddToParameters(port_of({id, 0}).node);
  }
  for (ir::NodeId id : *order) {
    if (context.emitter.exhausted()) return nullptr;
    const ir::Node& node = graph.node(id);
    const bool done = !state.ports[static_cast<size_t>(id.index)].empty();  // a parameter
    if (!done && !node.Is(ir::OpRole::kResult)) LowerNode(state, table, id);
  }
  AddResults(state);
  if (state.failed) return nullptr;
  ReadUpdatedVariables(state);
  state.target.EraseDeadNodes();
  return std::make_unique<ir::Graph>(std::move(state.target));
}

std::unique_ptr<ir::Graph> LowerBodyOf(NodeLowering& n, const ir::Graph& body) {
  LowerState& state = n.state();
  if (state.depth == ir::kMaxBodyNesting) {
    n.Error(kBodyNesting, "bodies of `{}` are nested more than {} deep", ir::OperationName(n.node()),
            ir::kMaxBodyNesting);
    return nullptr;
  }
  const auto is_operation = [&](std::string_view name) {
    return n.node().op() == body.registry().Find(ir::kNnefSet, name);
  };
  const bool in_loop = state.in_loop || is_operation("tensor_iterator") || is_operation("while_loop");
  std::unique_ptr<ir::Graph> graph = LowerBody(body, state.options, state.context, state.depth + 1, in_loop);
  state.failed |= graph == nullptr;
  return graph;
}

std::unique_ptr<ir::Graph> LowerGraph(const ir::Graph& graph, const LowerOptions& options, Context& context) {
  return lower::LowerBody(graph, options, context, 0, false);
}

}  // namespace nnefc::lower

#include "compiler/lower/lower.h"

#include "compiler/lower/facts.h"
#include "compiler/lower/node_lowering.h"
#include "compiler/lower/table.h"

namespace nnefc {

namespace lower {
namespace {

LoweringTable MakeTable() {
  LoweringTable table;
  RegisterTensorIntroducing(table);
  RegisterElementwise(table);
  RegisterConvolution(table);
  RegisterPooling(table);
  RegisterIndexSampling(table);
  RegisterResampling(table);
  RegisterReduce(table);
  RegisterShapeOps(table);
  RegisterSections(table);
  RegisterRoi(table);
  RegisterMatmul(table);
  RegisterUpdate(table);
  RegisterActivation(table);
  RegisterNormalization(table);
  RegisterQuantization(table);
  RegisterMiscellaneous(table);
  return table;
}

// True if the ranks of all inputs and outputs are known, on which every
// lowering relies; otherwise says which is not.
bool HasRanks(NodeLowering& lowering) {
  const ir::Node& node = lowering.node();
  for (int32_t i = 0; i < node.num_inputs(); ++i) {
    if (lowering.input_shape(i).rank_known()) continue;
    lowering.Error(kUnknownRank, "lowering `{}` needs the rank of its input {}, which is unknown",
                   node.type(), i);
    return false;
  }
  for (int32_t i = 0; i < node.num_outputs(); ++i) {
    if (node.output(i).shape.rank_known()) continue;
    lowering.Error(kUnknownRank, "lowering `{}` needs the rank of its output {}, which is unknown",
                   node.type(), i);
    return false;
  }
  return true;
}

void LowerNode(LowerState& state, const LoweringTable& table, ir::NodeId id) {
  const ir::Node& node = state.source.node(id);
  NodeLowering lowering(state, id);
  if (node.set() != ir::kNnefSet) {
    lowering.Keep();
    return;
  }
  const auto entry = table.find(node.type());
  if (entry == table.end()) {
    lowering.Keep();
  } else if (HasRanks(lowering)) {
    entry->second(lowering);
  }
  lowering.Finish();
  state.non_negative[static_cast<size_t>(id.index)] = IsNonNegative(state.source, node, state.non_negative);
}

}  // namespace
}  // namespace lower

std::unique_ptr<ir::Graph> LowerGraph(const ir::Graph& graph, const LowerOptions& options, Context& context) {
  const lower::LoweringTable table = lower::MakeTable();
  lower::LowerState state(graph, options, context);
  const std::optional<std::vector<ir::NodeId>> order = graph.TopologicalOrder();
  NNEFC_CHECK(order.has_value());
  lower::FindUpdatedVariables(state);
  const auto port_of = [&](ir::OutputPort port) {
    return state.ports[static_cast<size_t>(port.node.index)][static_cast<size_t>(port.index)];
  };
  for (ir::NodeId id : graph.parameters()) lower::LowerNode(state, table, id);
  for (ir::NodeId id : *order) {
    if (context.emitter.exhausted()) return nullptr;
    const ir::Node& node = graph.node(id);
    const bool done = !state.ports[static_cast<size_t>(id.index)].empty();  // a parameter
    if (!done && !node.Is("opset1", "Result")) lower::LowerNode(state, table, id);
  }
  for (ir::NodeId id : graph.results()) {
    const ir::Node& result = graph.node(id);
    state.target.AddResult(result.name(), port_of(result.input(0)), result.origin());
  }
  if (state.failed) return nullptr;
  state.target.EraseDeadNodes();
  return std::make_unique<ir::Graph>(std::move(state.target));
}

}  // namespace nnefc

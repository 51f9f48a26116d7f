// Lowerings of NNEF's update and of updated variables to ReadValue and Assign.

#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/ops/variables.h"
#include "compiler/lower/facts.h"
#include "compiler/lower/node_lowering.h"
#include "compiler/lower/table.h"

namespace nnefc::lower {

namespace {

// `new_x = update(x, y)`: the value is stored at the end of the cycle and is also the result.
void LowerUpdate(NodeLowering& n) {
  const ir::Node& variable = n.state().source.node(n.node().input(0).node);
  const auto state = n.state().states.find(ir::ops::VariableKey(variable));
  NNEFC_CHECK(state != n.state().states.end());
  const OutputPort value = n.input(1);
  // Another variable of the same label may have been read before, with trailing singular extents that this
  // one omits (P 4.1).
  const ir::PartialShape& state_shape = n.target().output(state->second.value).shape;
  const bool is_own = n.target().output(value).shape == state_shape || !state_shape.known();
  const OutputPort stored_value = is_own ? value : n.WithShape(value, state_shape.known_extents(), "shared");
  n.Add("opset6", "Assign", stored_value, Attributes({{"variable_id", state->second.id}}));
  n.SetOutput(value);
}

// Returns the nodes that results and sinks depend on.
std::vector<bool> NeededNodes(const ir::Graph& graph) {
  std::vector<bool> needed(graph.node_bound(), false);
  std::vector<ir::NodeId> pending(graph.sinks().begin(), graph.sinks().end());
  pending.insert(pending.end(), graph.results().begin(), graph.results().end());
  while (!pending.empty()) {
    const ir::NodeId id = pending.back();
    pending.pop_back();
    if (needed[static_cast<size_t>(id.index)]) continue;
    needed[static_cast<size_t>(id.index)] = true;
    for (OutputPort input : graph.node(id).inputs()) pending.push_back(input.node);
  }
  return needed;
}

}  // namespace

// Handles three restrictions of OpenVINO: it rejects an Assign without a ReadValue, does not load unused
// layers, and loses a stored value that is a model input. The stored value becomes a Select between it and
// the old value, with a condition that OpenVINO's passes do not fold.
void ReadUpdatedVariables(LowerState& state) {
  const std::vector<bool> needed = NeededNodes(state.target);
  llvm::StringMap<OutputPort> by_id;
  for (const auto& entry : state.states) by_id[entry.second.id] = entry.second.value;
  const std::vector<ir::NodeId> sinks(state.target.sinks().begin(), state.target.sinks().end());
  for (ir::NodeId sink : sinks) {
    const ir::Node& assign = state.target.node(sink);
    if (!assign.Is(ir::OpRole::kAssign)) continue;
    const auto variable = by_id.find(assign.attribute("variable_id").AsString());
    if (variable == by_id.end()) continue;  // already in the source, with its own ReadValue
    const OutputPort old = variable->second;
    const OutputPort stored = assign.input(0);
    const bool is_input = state.target.node(stored.node).Is(ir::OpRole::kParameter);
    if (needed[static_cast<size_t>(old.node.index)] && !is_input) continue;
    const auto add = [&](std::string_view type, llvm::ArrayRef<OutputPort> inputs, std::string_view suffix) {
      const ir::InferredNode added = ir::AddInferred(state.target, "opset1", type,
                                                     {.name = fmt::format("{}/{}", assign.name(), suffix),
                                                      .inputs = inputs,
                                                      .attributes = Attributes({{"auto_broadcast", "numpy"}}),
                                                      .origin = assign.origin()},
                                                     state.context.emitter);
      return OutputPort{added.id, 0};
    };
    // No value is less than itself or different from itself.
    const bool is_logical = state.target.output(old).type == ElementType::kBoolean;
    const OutputPort never = add(is_logical ? "LogicalXor" : "Less", {old, old}, "never");
    state.target.SetInput(sink, 0, add("Select", {never, old, stored}, "stored"));
  }
}

void RegisterUpdate(LoweringTable& table) {
  table["update"] = LowerUpdate;
}

}  // namespace nnefc::lower

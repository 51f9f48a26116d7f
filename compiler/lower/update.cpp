#include "compiler/lower/node_lowering.h"
#include "compiler/lower/table.h"

namespace nnefc::lower {

namespace {

// `new_x = update(x, y)`: the value is stored at the end of the cycle, and is
// the result itself.
void LowerUpdate(NodeLowering& n) {
  const ir::Node& variable = n.state().source.node(n.node().input(0).node);
  const auto state = n.state().states.find(StateKey(variable.attribute("label").AsString()));
  NNEFC_CHECK(state != n.state().states.end());
  const OutputPort value = n.input(1);
  n.Add("opset6", "Assign", value, Attributes({{"variable_id", state->second.id}}));
  n.SetOutput(value);
}

}  // namespace

void RegisterUpdate(LoweringTable& table) {
  table["update"] = LowerUpdate;
}

}  // namespace nnefc::lower

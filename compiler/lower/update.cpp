#include "compiler/lower/node_lowering.h"
#include "compiler/lower/table.h"

namespace nnefc::lower {

namespace {

// `new_x = update(x, y)`: the value is stored at the end of the cycle, and is
// the result itself.
void LowerUpdate(NodeLowering& n) {
  const ir::Node& variable = n.state().source.node(n.node().input(0).node);
  if (!variable.Is(ir::kNnefSet, "variable")) {
    n.Error(kUpdateOfNonVariable, "`variable` of `update` is the result of `{}`; expected that of `variable`",
            variable.type());
    return;
  }
  const OutputPort value = n.input(1);
  n.Add("opset6", "Assign", value, Attributes({{"variable_id", variable.attribute("label").AsString()}}));
  n.SetOutput(value);
}

}  // namespace

void RegisterUpdate(LoweringTable& table) {
  table["update"] = LowerUpdate;
}

}  // namespace nnefc::lower

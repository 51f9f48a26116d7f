// Raising of OpenVINO's ReadValue and Assign to NNEF variables and update.

#include "compiler/raise/node_raising.h"
#include "compiler/raise/table.h"

namespace nnefc::raise {

namespace {

// A state is a variable that an Assign of the same id updates. Its initial value is the variable's data, the
// one of the first ReadValue.
void RaiseReadValue(NodeRaising& n) {
  const std::string& id = n.node().String("variable_id");
  if (n.state().outer != nullptr) n.Decline("a body has no variables");
  if (IsForTract(n)) n.Decline("tract has no `update` of variables");
  const TensorValue* initial = n.Value(0);
  if (n.has_input(0) && initial == nullptr) n.Decline("its initial value depends on data");
  const nnefc::Shape shape = n.output_shape();
  if (DataTypeName(n.output_type()) != "scalar")
    n.Decline("its state has the type {}", Name(n.output_type()));
  const TensorValue value = initial != nullptr ? *initial : TensorValue::Filled(ElementType::kF32, shape, 0);
  if (value.shape() != shape) n.Decline("its initial value has another shape than its state");
  if (const auto known = n.state().states.find(id); known != n.state().states.end()) {
    if (n.Shape(known->second) != shape) n.Decline("another ReadValue of its variable has another shape");
    return n.SetOutput(known->second);
  }
  const std::string label = n.state().labels.Take(Label(id));
  const OutputPort variable = n.Add(
      "variable", {},
      Attributes({{"shape", Integers(shape.begin(), shape.end())}, {"label", label}, {"dtype", "scalar"}}));
  n.state().data.emplace(label, value);
  n.state().states[id] = variable;
  n.SetOutput(variable);
}

// The value of a cycle before the update is the one that all operations read.
void RaiseAssign(NodeRaising& n) {
  const auto state = n.state().states.find(n.node().String("variable_id"));
  if (IsForTract(n)) n.Decline("tract has no `update` of variables");
  if (state == n.state().states.end()) n.Decline("no ReadValue precedes it");
  if (!n.state().assigned.insert(state->first).second) n.Decline("its variable has another Assign");
  n.SetOutput(n.Add("update", {state->second, n.input(0)}, Attributes({{"dtype", "scalar"}})));
}

}  // namespace

std::vector<RaiseEntry> UpdateEntries() {
  return {{"ReadValue", RaiseReadValue}, {"Assign", RaiseAssign}};
}

}  // namespace nnefc::raise

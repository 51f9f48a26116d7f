// Lowerings of NNEF's external, constant and variable to Parameter, Const and ReadValue.

#include <algorithm>

#include "compiler/ir/ops/variables.h"
#include "compiler/lower/facts.h"
#include "compiler/lower/node_lowering.h"
#include "compiler/lower/table.h"

namespace nnefc::lower {

namespace {

// `external(shape = [1, 3, 224, 224])`
void LowerExternal(NodeLowering& n) {
  const ir::Output& output = n.node().output();
  const ir::NodeId id =
      ir::AddParameter(n.state().target, n.node().name(), output.type, output.shape, n.node().origin());
  n.SetOutput({id, 0});
}

// Returns the elements of `value` as doubles; logicals are 0 and 1.
std::vector<double> Elements(const Attribute& value) {
  std::vector<double> elements;
  if (const auto* scalar = value.get<double>()) return {*scalar};
  if (const auto* integer = value.get<int64_t>()) return {static_cast<double>(*integer)};
  if (const auto* logical = value.get<bool>()) return {*logical ? 1.0 : 0.0};
  if (const auto* scalars = value.get<Attribute::Scalars>()) return *scalars;
  if (const auto* logicals = value.get<Attribute::Logicals>()) {
    for (bool item : *logicals) elements.push_back(item ? 1.0 : 0.0);
  }
  return elements;
}

TensorValue MakeValue(ElementType type, nnefc::Shape shape, const Attribute& value) {
  // Integers are not converted to double, since it is exact up to 53 bits only.
  if (const auto* integers = value.get<Attribute::Integers>()) {
    TensorValue exact = TensorValue::FromInts(std::move(shape), *integers);
    return type == ElementType::kI64 ? exact : exact.ConvertedTo(type);
  }
  const std::vector<double> elements = Elements(value);
  std::vector<float> floats(elements.begin(), elements.end());
  TensorValue exact = TensorValue::FromFloats(std::move(shape), floats);
  return type == ElementType::kF32 ? exact : exact.ConvertedTo(type);
}

// `constant(shape = [2, 2], value = [1.0, 2.0, 3.0, 4.0])`; one value fills the shape.
void LowerConstant(NodeLowering& n) {
  const ir::Output& output = n.node().output();
  if (output.value) {
    n.SetOutput(n.Constant(*output.value, "const"));
    return;
  }
  if (output.type == ElementType::kString) {  // string tensors are not supported
    n.SetOutput(n.ConstWithoutValue(output.type, output.shape, "const"));
    return;
  }
  const Attribute& value = n.node().attribute("value");
  const nnefc::Shape shape = output.shape.known_extents();
  const std::optional<int64_t> volume = Volume(shape);
  const size_t count = value.IsList() ? value.ListSize() : 1;
  if (count != 1 || volume == 1) {
    n.SetOutput(n.Constant(MakeValue(n.DataType(), shape, value), "const"));
    return;
  }
  const TensorValue one = MakeValue(n.DataType(), {}, value);
  if (volume && *volume <= kLargestFilledVolume && one.type() != ElementType::kI64) {
    n.SetOutput(n.Constant(TensorValue::Filled(one.type(), shape, one.ElementAsDouble(0)), "const"));
    return;
  }
  const OutputPort target = n.ConstInts(shape, "shape");
  n.SetOutput(
      n.Add("opset3", "Broadcast", {n.Constant(one, "value"), target}, Attributes({{"mode", "numpy"}})));
}

// Returns the initial data of a variable.
OutputPort VariableConst(NodeLowering& n) {
  const ir::Output& output = n.node().output();
  const std::string label = n.String("label");
  if (!n.state().options.variable_data) return n.ConstWithoutValue(output.type, output.shape, "const");
  std::optional<TensorValue> data =
      n.state().options.variable_data(label, output.type, output.shape, n.node().origin());
  if (!data) {
    n.state().failed = true;
    return n.ConstWithoutValue(output.type, output.shape, "const");
  }
  NNEFC_CHECK(data->type() == output.type);
  NNEFC_CHECK(PartialShape(llvm::ArrayRef<int64_t>(data->shape())) == output.shape);
  return n.Constant(std::move(*data), "const");
}

// `variable(shape = [64, 3, 7, 7], label = 'conv1/filter')`. An updated variable is a state: all variables of
// its label read the value at the beginning of the cycle (4.8).
void LowerVariable(NodeLowering& n) {
  const auto state = n.state().states.find(ir::ops::VariableKey(n.node()));
  if (state == n.state().states.end()) {
    n.SetOutput(VariableConst(n));
    return;
  }
  OutputPort& value = state->second.value;
  if (!value.valid()) {
    const ir::Output& output = n.node().output();
    value = n.Add("opset6", "ReadValue", VariableConst(n),
                  Attributes({{"variable_id", state->second.id},
                              {"variable_type", output.type},
                              {"variable_shape", output.shape}}));
  }
  // Variables that share a label may omit trailing singular extents (P 4.1).
  const nnefc::Shape shape = n.output_shape().known_extents();
  const bool is_own = n.target().output(value).shape == n.output_shape();
  n.SetOutput(is_own ? value : n.WithShape(value, shape, "shared"));
}

}  // namespace

void FindUpdatedVariables(LowerState& state) {
  for (ir::NodeId id : state.source.nodes()) {
    const ir::Node& node = state.source.node(id);
    if (!node.Is(ir::OpRole::kUpdate)) continue;
    const ir::Node& variable = state.source.node(node.input(0).node);
    NNEFC_CHECK(variable.Is(ir::OpRole::kVariable));  // update.variable
    state.states.try_emplace(ir::ops::VariableKey(variable),
                             VariableState{variable.attribute("label").AsString(), {}});
  }
}

void RegisterTensorIntroducing(LoweringTable& table) {
  table["external"] = LowerExternal;
  table["constant"] = LowerConstant;
  table["variable"] = LowerVariable;
}

}  // namespace nnefc::lower

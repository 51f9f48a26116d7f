// Operations of OpenVINO as operations of the extension NNEFC_opset.

#include "compiler/raise/opset_forms.h"

#include <algorithm>

#include "compiler/raise/bodies.h"

namespace nnefc::raise {

bool HasOpsetForm(const ir::Node& node) {
  if (!node.bodies().empty()) return HasFormWithBodies(node);
  if (node.Is(ir::OpRole::kResult)) return false;
  if (node.Is(ir::OpRole::kParameter)) {
    // Inputs have a known rank, and a type of NNEF before the conversion to theirs.
    const ir::Output& input = node.output();
    return input.shape.rank_known() && input.type != ElementType::kU64 &&
           input.type != ElementType::kString && input.type != ElementType::kDynamic;
  }
  return node.info().infer != nullptr && node.set().starts_with(ir::kOpsets);
}

void RaiseToOpset(NodeRaising& n) {
  const ir::Node& node = n.node();
  if (HasFormWithBodies(node)) return RaiseWithBodies(n);
  if (!HasOpsetForm(node)) n.Decline("it is not an operation of OpenVINO's sets that nnefc computes");
  std::vector<OutputPort> inputs;
  inputs.reserve(static_cast<size_t>(node.num_inputs()));
  for (int32_t i = 0; i < node.num_inputs(); ++i) inputs.push_back(n.ExactInput(i));
  ir::AttributeMap attributes;
  for (const ir::AttributeInfo& each : node.info().attributes) {
    if (const Attribute* value = node.attributes().Find(each.name)) attributes.Set(each.name, *value);
  }
  // Files may omit the last outputs.
  const auto& outputs = node.info().outputs;
  const bool is_open = !outputs.empty() && outputs.back().ends_with("[]");
  const auto declared = is_open ? int32_t{0} : static_cast<int32_t>(outputs.size());
  const ir::NodeId id = n.AddNode({node.set(), node.type()}, inputs, std::move(attributes),
                                  std::max(declared, node.num_outputs()));
  for (int32_t i = 0; i < node.num_outputs(); ++i) n.SetOutput(i, {id, i});
}

}  // namespace nnefc::raise

// Shape inference of OpenVINO's If.

#include "compiler/ir/ops/opset/control_flow/control_flow.h"

#include "compiler/ir/ops/opset/control_flow/port_maps.h"

namespace nnefc::ir::ops::opset {

namespace {

constexpr size_t kThen = 0;
constexpr size_t kElse = 1;

// if.condition: one element of type boolean, of rank 0 or 1.
bool CheckCondition(OpContext& op) {
  if (op.type(0) != ElementType::kDynamic && op.type(0) != ElementType::kBoolean) {
    op.Error(kIfCondition, "`cond` of {} has the element type {}; expected boolean", LayerText(op.node()),
             Name(op.type(0)));
    return false;
  }
  const PartialShape& shape = op.shape(0);
  if (!shape.rank_known()) return true;
  if (shape.rank() > 1) {
    op.Error(kIfCondition, "`cond` of {} has rank {}; expected 0 or 1", LayerText(op.node()), shape.rank());
    return false;
  }
  if (shape.rank() == 1 && !shape[0].Compatible(Dim(1))) {
    op.Error(kIfCondition, "`cond` of {} has the shape {}; expected one element", LayerText(op.node()),
             ToString(shape));
    return false;
  }
  return true;
}

// if.bodies: both exist, and the results of each are the outputs.
bool CheckBodies(OpContext& op) {
  const llvm::ArrayRef<Body> bodies = op.node().bodies();
  if (bodies.size() != 2 || bodies[kThen].role != "then_body" || bodies[kElse].role != "else_body") {
    op.Error(kIfBodies, "{} has {} bodies; expected `then_body` and `else_body`", LayerText(op.node()),
             bodies.size());
    return false;
  }
  if (op.node().num_outputs() == 0) {
    op.Error(kIfBodies, "{} has no outputs", LayerText(op.node()));
    return false;
  }
  for (size_t index : {kThen, kElse}) {
    if (!CheckPortMap(op, index, false)) return false;
    const Body& body = bodies[index];
    std::vector<bool> used(body.graph->results().size(), false);
    for (const OutputMapping& mapping : body.outputs) {
      if (used[static_cast<size_t>(mapping.internal)]) {
        op.Error(kIfBodies, "the result `{}` of `{}` of {} is already associated with another output",
                 body.graph->node(body.graph->results()[static_cast<size_t>(mapping.internal)]).name(),
                 body.role, LayerText(op.node()));
        return false;
      }
      used[static_cast<size_t>(mapping.internal)] = true;
    }
    if (used.size() != body.outputs.size()) {
      op.Error(kIfBodies, "`{}` has {} results; {} has {} outputs", body.role, used.size(),
               LayerText(op.node()), body.outputs.size());
      return false;
    }
  }
  return true;
}

// Returns the outputs of a body, or nothing if it violates a rule.
std::optional<std::vector<Output>> InferBranch(OpContext& op, size_t index) {
  for (const InputMapping& mapping : op.node().bodies()[index].inputs) {
    const Output& input = op.input(mapping.external);
    if (!FeedParameter(op, index, mapping.internal, input.type, input.shape)) return std::nullopt;
  }
  if (!op.raw().InferBody(index)) return std::nullopt;
  const Body& body = op.node().bodies()[index];
  std::vector<Output> outputs(static_cast<size_t>(op.node().num_outputs()));
  for (const OutputMapping& mapping : body.outputs) {
    outputs[static_cast<size_t>(mapping.external)] = BodyResult(*body.graph, mapping.internal);
  }
  return outputs;
}

// If-8. A condition that is known at compile time selects one body; the other one may violate any rule.
void InferIf(OpContext& op) {
  if (!CheckCondition(op) || !CheckBodies(op)) return;
  if (const std::optional<TensorValue>& condition = op.input(0).value;
      condition && condition->volume() == 1) {
    const size_t taken = condition->ElementAsInt(0) != 0 ? kThen : kElse;
    const auto outputs = InferBranch(op, taken);
    if (!outputs) return;
    for (size_t i = 0; i < outputs->size(); ++i) {
      op.Set(static_cast<int32_t>(i), (*outputs)[i].type, (*outputs)[i].shape);
    }
    return;
  }
  const auto then_outputs = InferBranch(op, kThen);
  const auto else_outputs = InferBranch(op, kElse);
  if (!then_outputs || !else_outputs) return;
  for (size_t i = 0; i < then_outputs->size(); ++i) {
    const Output& a = (*then_outputs)[i];
    const Output& b = (*else_outputs)[i];
    const bool known = a.type != ElementType::kDynamic && b.type != ElementType::kDynamic;
    if (known && a.type != b.type) {
      op.Error(kBodyType, "output {} of {} has the element type {} in `then_body` and {} in `else_body`", i,
               LayerText(op.node()), Name(a.type), Name(b.type));
      return;
    }
    op.Set(static_cast<int32_t>(i), a.type == ElementType::kDynamic ? b.type : a.type,
           ShapeUnion(a.shape, b.shape));
  }
}

}  // namespace

std::vector<OpInfo> ControlFlowRows() {
  std::vector<OpInfo> rows = LoopRows();
  rows.push_back(MakeRow({.set = "opset8",
                          .name = "If",
                          .inputs = {"cond", "inputs[]"},
                          .infer = Infer<InferIf>,
                          .outputs = {"outputs[]"},
                          .role = OpRole::kIf}));
  return rows;
}

}  // namespace nnefc::ir::ops::opset

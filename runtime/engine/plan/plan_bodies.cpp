// The planning of operations with bodies (If, TensorIterator, Loop).

#include "runtime/engine/plan/plan_bodies.h"

#include "fmt/core.h"
#include "runtime/engine/plan/loop_count.h"
#include "runtime/kernels/rules.h"

namespace nnefc::runtime::engine::plan {

namespace {

// Plans the bodies of a step whose inputs have known shapes.
bool PlanBodies(PlanDraft& draft, Step& step) {
  const ir::Node& node = *step.node;
  std::vector<InputFacts> inputs;
  std::vector<Shape> shapes;
  for (ValueId id : step.inputs) {
    const TensorValue* constant = draft.ConstantOf(id);
    inputs.push_back({draft.values()[id].shape, constant == nullptr ? TensorValue() : *constant});
    shapes.push_back(draft.values()[id].shape);
  }
  if (step.kind == Step::Kind::kLoop) {
    std::optional<int64_t> trips;
    if (IsLoop(node) && inputs[0].constant.valid() && inputs[0].constant.volume() == 1) {
      trips = inputs[0].constant.ElementAsInt(0);
    }
    const kernels::FaultOr<std::optional<int64_t>> count = CountLoop(node, shapes, trips);
    if (!count) return draft.Fail(kernels::kRuntimeIterations, node, count.error().message);
    if (*count && !IsLoop(node) && **count > draft.options().limits.iterations) {
      return draft.Fail(kernels::kRuntimeIterations, node,
                        fmt::format("it makes {} iterations; at most {} are allowed (`--max-iterations`)",
                                    **count, draft.options().limits.iterations));
    }
  }
  for (size_t i = 0; i < node.bodies().size(); ++i) {
    const ir::Body& body = node.bodies()[i];
    // Errors of a body that may not be selected are ignored here. If it is selected it is planned again and
    // they are reported.
    Emitter of_branch;
    Emitter& emitter = step.kind == Step::Kind::kIf ? of_branch : draft.emitter();
    step.bodies[i] = MakePlan(*body.graph, FirstInputsOf(body, inputs), draft.options(), emitter);
    if (step.bodies[i] == nullptr && step.kind != Step::Kind::kIf) return false;
  }
  return true;
}

}  // namespace

bool AddControlStep(PlanDraft& draft, const ir::Node& node) {
  Step step{.kind = node.Is(ir::OpRole::kIf) ? Step::Kind::kIf : Step::Kind::kLoop,
            .node = &node,
            .name = node.name(),
            .operation = node.type()};
  bool known = true;
  for (ir::OutputPort port : node.inputs()) {
    const ValueId id = draft.InLayout(draft.ValueOf(port), nullptr);
    if (id < 0) return draft.Fail(kernels::kRuntimeMemory, node, "its inputs cannot be laid out");
    step.inputs.push_back(id);
    known &= !draft.IsHeap(id);
  }
  draft.CountReads(node);
  step.bodies.resize(node.bodies().size());
  if (known && !PlanBodies(draft, step)) return false;
  for (int32_t i = 0; i < node.num_outputs(); ++i) {
    const ir::Output& output = node.output(i);
    const std::optional<Shape> shape = output.shape.extents();
    const bool is_static = shape && output.type != ElementType::kDynamic;
    const ValueId id =
        is_static ? draft.AddArenaValue(output.type, *shape, nullptr) : draft.AddHeapValue(output.type);
    if (id < 0) return draft.Fail(kernels::kRuntimeMemory, node, "its result does not fit into memory");
    step.outputs.push_back(id);
    draft.SetValue(node.port(i), id);
  }
  draft.AddStep(std::move(step));
  return true;
}

}  // namespace nnefc::runtime::engine::plan

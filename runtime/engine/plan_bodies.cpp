#include "fmt/core.h"
#include "runtime/engine/loop_count.h"
#include "runtime/engine/plan_builder.h"
#include "runtime/kernels/rules.h"

namespace nnefc::runtime::engine {

bool PlanBuilder::AddControlStep(const ir::Node& node) {
  Step step{.kind = node.Is(ir::OpRole::kIf) ? Step::Kind::kIf : Step::Kind::kLoop,
            .node = &node,
            .name = node.name(),
            .operation = node.type()};
  bool known = true;
  for (ir::OutputPort port : node.inputs()) {
    const ValueId id = InLayout(ValueOf(port), nullptr);
    if (id < 0) return Fail(kernels::kRuntimeMemory, node, "its inputs cannot be laid out");
    step.inputs.push_back(id);
    known &= !IsHeap(id);
  }
  CountReads({.main = &node, .posts = {}});
  step.bodies.resize(node.bodies().size());
  if (known && !PlanBodies(step)) return false;
  for (int32_t i = 0; i < node.num_outputs(); ++i) {
    const ir::Output& output = node.output(i);
    const std::optional<Shape> shape = output.shape.extents();
    const bool is_static = shape && output.type != ElementType::kDynamic;
    const ValueId id = is_static ? AddArenaValue(output.type, *shape, nullptr) : AddHeapValue(output.type);
    if (id < 0) return Fail(kernels::kRuntimeMemory, node, "its result does not fit into memory");
    step.outputs.push_back(id);
    SetValue(node.port(i), id);
  }
  plan_.steps.push_back(std::move(step));
  return true;
}

bool PlanBuilder::PlanBodies(Step& step) {
  const ir::Node& node = *step.node;
  std::vector<InputFacts> inputs;
  std::vector<Shape> shapes;
  for (ValueId id : step.inputs) {
    const auto constant = constants_.find(id);
    inputs.push_back({values_[id].shape, constant == constants_.end() ? TensorValue() : constant->second});
    shapes.push_back(values_[id].shape);
  }
  if (step.kind == Step::Kind::kLoop) {
    std::optional<int64_t> trips;
    if (IsLoop(node) && inputs[0].constant.valid() && inputs[0].constant.volume() == 1) {
      trips = inputs[0].constant.ElementAsInt(0);
    }
    const kernels::FaultOr<std::optional<int64_t>> count = CountLoop(node, shapes, trips);
    if (!count) return Fail(kernels::kRuntimeIterations, node, count.error().message);
    if (*count && !IsLoop(node) && **count > options_.limits.iterations) {
      return Fail(kernels::kRuntimeIterations, node,
                  fmt::format("it makes {} iterations; at most {} are allowed (`--max-iterations`)", **count,
                              options_.limits.iterations));
    }
  }
  for (size_t i = 0; i < node.bodies().size(); ++i) {
    const ir::Body& body = node.bodies()[i];
    // Errors of a body that may not be selected are ignored here. If it is selected it is planned again and
    // they are reported.
    Emitter of_branch;
    Emitter& emitter = step.kind == Step::Kind::kIf ? of_branch : emitter_;
    step.bodies[i] = MakePlan(*body.graph, FirstInputsOf(body, inputs), options_, emitter);
    if (step.bodies[i] == nullptr && step.kind != Step::Kind::kIf) return false;
  }
  return true;
}

}  // namespace nnefc::runtime::engine

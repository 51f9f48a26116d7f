// The step of a plan that executes If.

#include "runtime/engine/run/body_values.h"
#include "runtime/kernels/attributes.h"

namespace nnefc::runtime::engine::run {

namespace {

// If-8: runs the body that the condition selects.
class IfStep final : public ControlStep {
 public:
  IfStep(const plan::Step& step, RunEnvironment& environment) : step_(step) {
    for (size_t i = 0; i < 2; ++i) frames_.emplace_back(step.node->bodies()[i], step.bodies[i], environment);
  }

  kernels::FaultOr<Success> Run(Frame& outer) override {
    const tensor::TensorView& condition = outer.view(step_.inputs[0]);
    if (condition.type() != ElementType::kBoolean || condition.volume() != 1) {
      return kernels::KernelFault("its condition is {}{}; expected one element of type boolean",
                                  Name(condition.type()), ToString(condition.shape()));
    }
    const size_t taken = condition.bytes()[0] != std::byte{0} ? 0 : 1;
    const ir::Body& body = step_.node->bodies()[taken];
    const kernels::FaultOr<Frame*> frame =
        frames_[taken].Get(plan::FirstInputsOf(body, FactsOf(outer, step_)));
    if (!frame) return frame.error();
    for (const ir::InputMapping& mapping : body.inputs) {
      const plan::ValueId input = step_.inputs[static_cast<size_t>(mapping.external)];
      (*frame)->SetInput(static_cast<size_t>(mapping.internal), outer.view(input).bytes());
    }
    return RunBody(outer, body, **frame);
  }

 private:
  kernels::FaultOr<Success> RunBody(Frame& outer, const ir::Body& body, Frame& frame) const {
    const plan::Plan& plan = frame.plan();
    std::vector<HeldBytes> places(plan.outputs.size());
    for (const ir::OutputMapping& mapping : body.outputs) {
      const plan::ValueId output = step_.outputs[static_cast<size_t>(mapping.external)];
      if (outer.IsHeap(output)) continue;
      const tensor::MutableTensorView& place = outer.view(output);
      const int32_t whole = WholeOutput(plan, static_cast<size_t>(mapping.internal), place.byte_size());
      if (whole >= 0) places[static_cast<size_t>(whole)].bytes = place.bytes();
    }
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i].bytes == nullptr) {
        places[i].keep = outer.memory().Allocate(frame.value(plan.outputs[i]).bytes);
        if (places[i].keep == nullptr) return BeyondBudget();
        places[i].bytes = places[i].keep->data();
      }
      frame.SetOutput(i, places[i].bytes);
    }
    if (kernels::FaultOr<Success> done = frame.Run(); !done) return done.error();
    for (const ir::OutputMapping& mapping : body.outputs) {
      const auto index = static_cast<size_t>(mapping.internal);
      const plan::PlanValue& root = frame.value(plan.results[index].root);
      HeldBytes held;
      if (root.output >= 0) held = places[static_cast<size_t>(root.output)];
      if (const TensorValue* value = frame.heap_result(index)) held.keep = value->buffer();
      const plan::ValueId output = step_.outputs[static_cast<size_t>(mapping.external)];
      tensor::TensorView value = frame.result(index);
      // if.scalar: a scalar becomes a list of one element if the other body returns a list.
      const ir::PartialShape& declared = step_.node->output(mapping.external).shape;
      if (value.rank() == 0 && declared.rank_known() && declared.rank() == 1)
        value = tensor::TensorView(value.type(), {1}, value.bytes());
      kernels::FaultOr<Success> done = Deliver(outer, output, value, held);
      if (!done) return done.error();
    }
    return Success();
  }

  const plan::Step& step_;
  std::vector<BodyFrames> frames_;  // then, else
};

}  // namespace

std::unique_ptr<ControlStep> MakeIfStep(const plan::Step& step, RunEnvironment& environment) {
  return std::make_unique<IfStep>(step, environment);
}

}  // namespace nnefc::runtime::engine::run

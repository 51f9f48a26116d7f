// Sessions: checks of inputs, binding of buffers, and execution of a plan's steps.

#include <new>

#include "compiler/support/tensor/packed_elements.h"
#include "fmt/core.h"
#include "runtime/engine/executable_impl.h"
#include "runtime/engine/run/body_values.h"
#include "runtime/engine/run/frame.h"
#include "runtime/kernels/attributes.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime::engine {

using kernels::FaultOr;

namespace {

class SessionImpl final : public Session {
 public:
  explicit SessionImpl(std::shared_ptr<const ExecutableImpl> executable)
      : executable_(std::move(executable)),
        environment_{.plan_options = executable_->plan_options(),
                     .memory = run::MemoryBudget(executable_->plan_options().limits.bytes)} {}

  FaultOr<std::vector<TensorValue>> Run(const std::vector<TensorValue>& inputs) override;
  void ResetState() override { environment_.state.clear(); }
  void EnableProfile(bool on) override {
    environment_.profiling = on;
    environment_.profile.clear();
  }
  const std::vector<StepProfile>& profile() const override { return environment_.profile; }

 private:
  FaultOr<Success> CheckInputs(const std::vector<TensorValue>& inputs) const;
  FaultOr<Success> Bind(const std::vector<TensorValue>& inputs);
  FaultOr<Success> PlaceOutputs();
  FaultOr<TensorValue> TakeOutput(size_t index) const;

  std::shared_ptr<const ExecutableImpl> executable_;
  run::RunEnvironment environment_;
  std::unique_ptr<run::Frame> frame_;
  std::vector<TensorValue> inputs_;  // the current run's
  // The buffers of `Plan::outputs`. Those of the last run are reused if the user has released the values in
  // them.
  std::vector<std::shared_ptr<Buffer>> places_;
  run::Reservation reservation_;  // for these
};

FaultOr<Success> SessionImpl::CheckInputs(const std::vector<TensorValue>& inputs) const {
  const std::vector<Port>& ports = executable_->inputs();
  if (inputs.size() != ports.size()) {
    return kernels::KernelFault("{} inputs were given; expected {}", inputs.size(), ports.size());
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    const Port& port = ports[i];
    if (!inputs[i].valid()) return kernels::KernelFault("input `{}` was not given", port.name);
    if (port.type != ElementType::kDynamic && inputs[i].type() != port.type) {
      return kernels::KernelFault("input `{}` has elements of type {}; expected {}", port.name,
                                  Name(inputs[i].type()), Name(port.type));
    }
    if (!port.shape.rank_known()) continue;
    bool fits = inputs[i].rank() == port.shape.rank();
    for (int64_t axis = 0; fits && axis < port.shape.rank(); ++axis) {
      fits = port.shape[axis].Compatible(ir::Dim(inputs[i].shape()[static_cast<size_t>(axis)]));
    }
    if (!fits) {
      return kernels::KernelFault("input `{}` has the shape {}; expected {}", port.name,
                                  ToString(inputs[i].shape()), ir::ToString(port.shape));
    }
  }
  return Success();
}

// Binds the plan for these inputs to memory. The frame is reused while the input shapes stay the same.
FaultOr<Success> SessionImpl::Bind(const std::vector<TensorValue>& inputs) {
  std::vector<Shape> shapes;
  shapes.reserve(inputs.size());
  for (const TensorValue& input : inputs) shapes.push_back(input.shape());
  if (frame_ != nullptr && frame_->plan().input_shapes == shapes) return Success();
  FaultOr<std::shared_ptr<const plan::Plan>> plan = executable_->GetPlan(shapes);
  if (!plan) return plan.error();
  frame_ = nullptr;  // released before another arena is allocated
  FaultOr<std::unique_ptr<run::Frame>> frame = run::Frame::Create(*plan, environment_);
  if (!frame) return frame.error();
  frame_ = std::move(*frame);
  places_.assign(frame_->plan().outputs.size(), nullptr);
  reservation_.Release();
  reservation_ = environment_.memory.Reserve();
  for (plan::ValueId id : frame_->plan().outputs) {
    if (reservation_.Grow(frame_->value(id).bytes)) continue;
    frame_ = nullptr;
    return run::BeyondBudget();
  }
  return Success();
}

FaultOr<Success> SessionImpl::PlaceOutputs() {
  const std::vector<plan::ValueId>& outputs = frame_->plan().outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::shared_ptr<Buffer>& place = places_[i];
    if (!run::IsUnshared(place)) place = Buffer::Allocate(frame_->value(outputs[i]).bytes);
    if (place == nullptr) return kernels::OutOfMemory();
    frame_->SetOutput(i, place->data());
  }
  return Success();
}

// Returns a result without a copy if it fills its buffer. Copies are not counted in the budget, because the
// user owns them.
FaultOr<TensorValue> SessionImpl::TakeOutput(size_t index) const {
  const plan::PlanResult& result = frame_->plan().results[index];
  const plan::PlanValue& root = frame_->value(result.root);
  const tensor::TensorView& view = frame_->result(index);
  if (root.output >= 0 && result.offset == 0 && root.bytes == view.byte_size() && !IsPacked(view.type()))
    return TensorValue(view.type(), view.shape(), places_[static_cast<size_t>(root.output)]);
  return run::CopyOf(view, run::MemoryBudget(SIZE_MAX));
}

FaultOr<std::vector<TensorValue>> SessionImpl::Run(const std::vector<TensorValue>& inputs) {
  try {
    if (FaultOr<Success> checked = CheckInputs(inputs); !checked) return checked.error();
    if (FaultOr<Success> bound = Bind(inputs); !bound) return bound.error();
    inputs_.clear();
    for (const TensorValue& input : inputs)
      inputs_.push_back(IsPacked(input.type()) ? CodesOf(input) : input.AlignedToElements());
    for (size_t i = 0; i < inputs_.size(); ++i) frame_->SetInput(i, inputs_[i].bytes());
    environment_.initial_state.clear();
    environment_.next_state.clear();
    environment_.profile.clear();
    environment_.iterations_left = environment_.plan_options.limits.iterations;
    if (FaultOr<Success> placed = PlaceOutputs(); !placed) return placed.error();
    const tensor::ThreadScope scope(executable_->threads());
    if (FaultOr<Success> done = frame_->Run(); !done) return done.error();
    std::vector<TensorValue> outputs;
    for (size_t i = 0; i < frame_->plan().results.size(); ++i) {
      FaultOr<TensorValue> output = TakeOutput(i);
      if (!output) return output.error();
      outputs.push_back(*output);
    }
    for (const auto* state : {&environment_.initial_state, &environment_.next_state}) {
      for (const auto& [variable, value] : *state) environment_.state[variable] = value;
    }
    inputs_.clear();  // releases the user's buffers after the run
    return outputs;
  } catch (const std::bad_alloc&) {
    return kernels::OutOfMemory();
  }
}

}  // namespace

std::unique_ptr<Session> Session::Create(std::shared_ptr<const Executable> executable) {
  auto impl = std::dynamic_pointer_cast<const ExecutableImpl>(executable);
  NNEFC_CHECK(impl != nullptr);
  return std::make_unique<SessionImpl>(std::move(impl));
}

}  // namespace nnefc::runtime::engine

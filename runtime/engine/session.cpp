#include <chrono>
#include <cstring>
#include <map>
#include <new>

#include "fmt/format.h"
#include "runtime/engine/evaluate.h"
#include "runtime/engine/executable_impl.h"
#include "runtime/kernels/attributes.h"
#include "runtime/tensor/arena.h"

namespace nnefc::runtime {

namespace {

// A copy in a buffer of its own.
ErrorOr<TensorValue> CopyOf(const TensorView& view) {
  std::shared_ptr<Buffer> buffer = Buffer::Allocate(view.byte_size());
  if (buffer == nullptr) return SystemError{"out of memory"};
  if (view.byte_size() > 0) std::memcpy(buffer->mutable_data(), view.bytes(), view.byte_size());
  return TensorValue(view.type(), view.shape(), std::move(buffer));
}

// A step with the views it reads and writes.
struct BoundStep {
  const Step* step;
  llvm::SmallVector<const TensorView*, 4> inputs = {};
  llvm::SmallVector<const MutableTensorView*, 1> outputs = {};
  std::byte* scratch = nullptr;
  std::unique_ptr<KernelState> state = nullptr;
};

class SessionImpl final : public Session {
 public:
  explicit SessionImpl(std::shared_ptr<const ExecutableImpl> executable)
      : executable_(std::move(executable)) {}

  ErrorOr<std::vector<TensorValue>> Run(const std::vector<TensorValue>& inputs) override;
  void ResetState() override { state_.clear(); }
  void EnableProfile(bool on) override {
    profiling_ = on;
    profile_.clear();
  }
  const std::vector<StepProfile>& profile() const override { return profile_; }

 private:
  ErrorOr<Success> CheckInputs(const std::vector<TensorValue>& inputs) const;
  ErrorOr<Success> Bind(const std::vector<TensorValue>& inputs);
  std::byte* PlaceOf(const PlanValue& value) const;
  void SetInputs();
  ErrorOr<Success> RunSteps();
  ErrorOr<Success> RunStep(BoundStep& bound);
  ErrorOr<Success> RunDynamic(const BoundStep& bound);
  ErrorOr<Success> ReadState(const BoundStep& bound);
  ErrorOr<Success> WriteState(const BoundStep& bound);
  // Makes `tensor` the value of an output whose shape was not known.
  ErrorOr<Success> SetOutput(ValueId id, const TensorValue& tensor);
  ErrorOr<TensorValue> ValueAsTensor(ValueId id) const;
  void Record(const BoundStep& bound, double milliseconds);

  std::shared_ptr<const ExecutableImpl> executable_;
  std::shared_ptr<const Plan> plan_;
  Arena arena_;
  std::vector<MutableTensorView> views_;  // by ValueId
  std::vector<TensorValue> inputs_;       // of the current run
  std::map<ValueId, TensorValue> heap_;   // values of sizes found in this run
  std::vector<BoundStep> steps_;
  std::map<std::string, TensorValue> state_;
  std::map<std::string, TensorValue> next_state_;  // what the run assigns
  bool profiling_ = false;
  std::vector<StepProfile> profile_;
};

ErrorOr<Success> SessionImpl::CheckInputs(const std::vector<TensorValue>& inputs) const {
  const std::vector<Port>& ports = executable_->inputs();
  if (inputs.size() != ports.size()) {
    return KernelError("{} inputs were given; expected {}", inputs.size(), ports.size());
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    const Port& port = ports[i];
    if (!inputs[i].valid()) return KernelError("input `{}` was not given", port.name);
    if (port.type != ElementType::kDynamic && inputs[i].type() != port.type) {
      return KernelError("input `{}` has elements of type {}; expected {}", port.name, Name(inputs[i].type()),
                         Name(port.type));
    }
    if (!port.shape.rank_known()) continue;
    bool fits = inputs[i].rank() == port.shape.rank();
    for (int64_t axis = 0; fits && axis < port.shape.rank(); ++axis) {
      fits = port.shape[axis].Compatible(ir::Dim(inputs[i].shape()[static_cast<size_t>(axis)]));
    }
    if (!fits) {
      return KernelError("input `{}` has the shape {}; expected {}", port.name, ToString(inputs[i].shape()),
                         ir::ToString(port.shape));
    }
  }
  return Success();
}

std::byte* SessionImpl::PlaceOf(const PlanValue& value) const {
  const PlanValue* at = &value;
  size_t offset = 0;
  while (at->root != static_cast<ValueId>(at - plan_->values.data())) {
    offset += at->offset;
    at = &plan_->values[static_cast<size_t>(at->root)];
  }
  switch (at->storage) {
    case PlanValue::Storage::kConstant:
      return const_cast<std::byte*>(at->data->data()) + offset;
    case PlanValue::Storage::kInput:
      return const_cast<std::byte*>(inputs_[static_cast<size_t>(at->input)].bytes()) + offset;
    case PlanValue::Storage::kArena:
      return arena_.data() + at->arena_offset + offset;
    case PlanValue::Storage::kHeap:
      return nullptr;
  }
  return nullptr;
}

// Makes views and step arguments for the plan of these inputs' shapes; kept
// while shapes stay the same.
ErrorOr<Success> SessionImpl::Bind(const std::vector<TensorValue>& inputs) {
  std::vector<Shape> shapes;
  for (const TensorValue& input : inputs) shapes.push_back(input.shape());
  if (plan_ != nullptr && plan_->input_shapes == shapes) return Success();
  ErrorOr<std::shared_ptr<const Plan>> plan = executable_->GetPlan(shapes);
  if (!plan) return plan.error();
  std::optional<Arena> arena = Arena::Allocate((*plan)->arena_bytes);
  if (!arena) return KernelError("no memory for an arena of {} bytes", (*plan)->arena_bytes);
  steps_.clear();
  plan_ = *plan;
  arena_ = std::move(*arena);
  views_.clear();
  for (const PlanValue& value : plan_->values) {
    std::byte* place = value.storage == PlanValue::Storage::kInput ? nullptr : PlaceOf(value);
    views_.emplace_back(value.type, value.shape, place);
  }
  for (const Step& step : plan_->steps) {
    BoundStep bound{.step = &step};
    for (ValueId id : step.inputs) bound.inputs.push_back(&views_[static_cast<size_t>(id)]);
    for (ValueId id : step.outputs) bound.outputs.push_back(&views_[static_cast<size_t>(id)]);
    if (step.scratch >= 0) bound.scratch = views_[static_cast<size_t>(step.scratch)].mutable_bytes();
    if (step.kernel != nullptr) bound.state = step.kernel->NewState();
    steps_.push_back(std::move(bound));
  }
  return Success();
}

void SessionImpl::SetInputs() {
  for (size_t i = 0; i < plan_->values.size(); ++i) {
    const PlanValue& value = plan_->values[i];
    if (value.storage == PlanValue::Storage::kInput) views_[i].set_bytes(PlaceOf(value));
  }
}

ErrorOr<std::vector<TensorValue>> SessionImpl::Run(const std::vector<TensorValue>& inputs) {
  try {
    if (ErrorOr<Success> checked = CheckInputs(inputs); !checked) return checked.error();
    if (ErrorOr<Success> bound = Bind(inputs); !bound) return bound.error();
    inputs_.clear();
    for (const TensorValue& input : inputs) inputs_.push_back(input.Aligned(8));
    SetInputs();
    heap_.clear();
    next_state_.clear();
    profile_.clear();
    const ThreadScope scope(executable_->threads());
    if (ErrorOr<Success> done = RunSteps(); !done) return done.error();
    std::vector<TensorValue> outputs;
    for (ValueId id : plan_->results) {
      ErrorOr<TensorValue> output = ValueAsTensor(id);
      if (!output) return output.error();
      outputs.push_back(*output);
    }
    for (auto& [variable, value] : next_state_) state_[variable] = value;
    return outputs;
  } catch (const std::bad_alloc&) {
    return SystemError{"out of memory"};
  }
}

ErrorOr<Success> SessionImpl::RunSteps() {
  for (BoundStep& bound : steps_) {
    const auto start = std::chrono::steady_clock::now();
    ErrorOr<Success> done = RunStep(bound);
    if (!done)
      return KernelError("`{}` ({}): {}", bound.step->name, bound.step->operation, done.error().message);
    if (!profiling_) continue;
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    Record(bound, elapsed.count());
  }
  return Success();
}

ErrorOr<Success> SessionImpl::RunStep(BoundStep& bound) {
  switch (bound.step->kind) {
    case Step::Kind::kKernel:
      return bound.step->kernel->Run({.inputs = bound.inputs,
                                      .outputs = bound.outputs,
                                      .scratch = bound.scratch,
                                      .state = bound.state.get()});
    case Step::Kind::kDynamic:
      return RunDynamic(bound);
    case Step::Kind::kReadState:
      return ReadState(bound);
    case Step::Kind::kWriteState:
      return WriteState(bound);
  }
  return Success();
}

ErrorOr<TensorValue> SessionImpl::ValueAsTensor(ValueId id) const {
  if (auto heap = heap_.find(id); heap != heap_.end()) return heap->second;
  return CopyOf(views_[static_cast<size_t>(id)]);
}

ErrorOr<Success> SessionImpl::SetOutput(ValueId id, const TensorValue& tensor) {
  MutableTensorView& view = views_[static_cast<size_t>(id)];
  if (plan_->values[static_cast<size_t>(id)].storage == PlanValue::Storage::kHeap) {
    heap_[id] = tensor;
    view = MutableTensorView(tensor.type(), tensor.shape(), const_cast<std::byte*>(tensor.bytes()));
    return Success();
  }
  if (tensor.type() != view.type() || tensor.shape() != view.shape()) {
    return KernelError("its value is {}{}; expected {}{}", Name(tensor.type()), ToString(tensor.shape()),
                       Name(view.type()), ToString(view.shape()));
  }
  if (view.byte_size() > 0) std::memcpy(view.mutable_bytes(), tensor.bytes(), view.byte_size());
  return Success();
}

ErrorOr<Success> SessionImpl::RunDynamic(const BoundStep& bound) {
  std::vector<TensorValue> inputs;
  for (ValueId id : bound.step->inputs) {
    ErrorOr<TensorValue> input = ValueAsTensor(id);
    if (!input) return input.error();
    inputs.push_back(*input);
  }
  ErrorOr<std::vector<TensorValue>> outputs =
      EvaluateDynamicNode(*plan_->graph, *bound.step->node, inputs, executable_->kernels());
  if (!outputs) return outputs.error();
  for (size_t i = 0; i < bound.step->outputs.size(); ++i) {
    if (ErrorOr<Success> set = SetOutput(bound.step->outputs[i], (*outputs)[i]); !set) return set.error();
  }
  return Success();
}

// The value of the last run; at first the initial one, or zeros.
ErrorOr<Success> SessionImpl::ReadState(const BoundStep& bound) {
  const ir::Node& node = *bound.step->node;
  const std::string variable = StringOr(node, "variable_id", "");
  if (auto kept = state_.find(variable); kept != state_.end())
    return SetOutput(bound.step->outputs[0], kept->second);
  ErrorOr<TensorValue> initial = SystemError{"its variable has no initial value of known shape"};
  if (!bound.step->inputs.empty()) {
    initial = ValueAsTensor(bound.step->inputs[0]);
  } else if (const std::optional<Shape> shape = node.output().shape.extents()) {
    initial = CopyOf(TensorView(TensorValue::Filled(node.output().type, *shape, 0)));
  }
  if (!initial) return initial.error();
  state_[variable] = *initial;
  return SetOutput(bound.step->outputs[0], *initial);
}

// All readers of this run see the old value: the new one is kept apart until
// the run has succeeded.
ErrorOr<Success> SessionImpl::WriteState(const BoundStep& bound) {
  ErrorOr<TensorValue> value = ValueAsTensor(bound.step->inputs[0]);
  if (!value) return value.error();
  next_state_[StringOr(*bound.step->node, "variable_id", "")] = *value;
  return Success();
}

void SessionImpl::Record(const BoundStep& bound, double milliseconds) {
  const Step& step = *bound.step;
  profile_.push_back({.name = step.name,
                      .operation = step.operation,
                      .kernel = step.kernel != nullptr ? step.kernel->implementation() : "engine",
                      .milliseconds = milliseconds,
                      .shape = bound.outputs.empty() ? Shape() : bound.outputs[0]->shape()});
}

}  // namespace

std::unique_ptr<Session> Session::Create(std::shared_ptr<const Executable> executable) {
  auto impl = std::dynamic_pointer_cast<const ExecutableImpl>(executable);
  NNEFC_CHECK(impl != nullptr);
  return std::make_unique<SessionImpl>(std::move(impl));
}

}  // namespace nnefc::runtime

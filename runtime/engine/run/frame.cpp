// A frame: the memory and the values of one execution of a plan.

#include "runtime/engine/run/frame.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "compiler/support/tensor/packed_elements.h"
#include "fmt/core.h"
#include "runtime/engine/evaluate.h"
#include "runtime/kernels/attributes.h"

namespace nnefc::runtime::engine::run {

using kernels::FaultOr;

namespace {

constexpr size_t kMaxFrames = 8;  // per body

// Prefixes the message with the step. Sets the location unless an inner step has set it.
kernels::Fault FaultAt(const plan::Step& step, kernels::Fault fault) {
  fault.message = fmt::format("`{}` ({}): {}", step.name, step.operation, fault.message);
  if (!fault.place.valid() && step.node != nullptr) fault.place = step.node->origin().range;
  return fault;
}

}  // namespace

FaultOr<TensorValue> CopyOf(const tensor::TensorView& view, const MemoryBudget& memory) {
  if (IsPacked(view.type())) {
    const TensorValue packed = PackCodes(view.type(), view.shape(), view.bytes());
    std::shared_ptr<const Buffer> counted = memory.Count(packed.buffer());
    if (counted == nullptr) return BeyondBudget();
    return TensorValue(view.type(), view.shape(), std::move(counted));
  }
  std::shared_ptr<Buffer> buffer = memory.Allocate(view.byte_size());
  if (buffer == nullptr) return BeyondBudget();
  if (view.byte_size() > 0) std::memcpy(buffer->mutable_data(), view.bytes(), view.byte_size());
  return TensorValue(view.type(), view.shape(), std::move(buffer));
}

FaultOr<std::unique_ptr<Frame>> Frame::Create(std::shared_ptr<const plan::Plan> plan,
                                              RunEnvironment& environment) {
  Reservation reservation = environment.memory.Reserve();
  if (!reservation.Grow(plan->arena_bytes)) return BeyondBudget();
  std::optional<tensor::Arena> arena = tensor::Arena::Allocate(plan->arena_bytes);
  if (!arena) return kernels::KernelFault("no memory for an arena of {} bytes", plan->arena_bytes);
  return std::unique_ptr<Frame>(
      new Frame(std::move(plan), std::move(*arena), std::move(reservation), environment));
}

Frame::Frame(std::shared_ptr<const plan::Plan> plan, tensor::Arena arena, Reservation reservation,
             RunEnvironment& environment)
    : plan_(std::move(plan)),
      reservation_(std::move(reservation)),
      arena_(std::move(arena)),
      environment_(environment),
      input_views_(plan_->input_shapes.size()),
      output_views_(plan_->outputs.size()) {
  BindViews();
  BindSteps();
}

Frame::~Frame() = default;

// Returns the values that steps or results use. Constants that are only read in other layouts are unused.
std::vector<bool> Frame::FindUsed() const {
  std::vector<bool> used(plan_->values.size());
  const auto use = [&](plan::ValueId id) {
    if (id >= 0) used[static_cast<size_t>(id)] = true;
  };
  for (const plan::Step& step : plan_->steps) {
    for (plan::ValueId id : step.inputs) use(id);
    for (plan::ValueId id : step.outputs) use(id);
    use(step.scratch);
  }
  for (const plan::PlanResult& result : plan_->results) {
    use(result.value);
    use(result.root);
  }
  return used;
}

void Frame::BindViews() {
  const std::vector<bool> used = FindUsed();
  for (size_t i = 0; i < plan_->values.size(); ++i) {
    const plan::PlanValue& value = plan_->values[i];
    plan::ValueId root = static_cast<plan::ValueId>(i);
    size_t offset = 0;
    while (this->value(root).root != root) {
      offset += this->value(root).offset;
      root = this->value(root).root;
    }
    const plan::PlanValue& buffer = this->value(root);
    std::byte* place = nullptr;
    switch (buffer.storage) {
      case plan::PlanValue::Storage::kConstant:
        if (used[i]) place = const_cast<std::byte*>(buffer.data->data()) + offset;
        break;
      case plan::PlanValue::Storage::kArena:
        place = arena_.data() + buffer.arena_offset + offset;
        break;
      case plan::PlanValue::Storage::kInput:
        input_views_[static_cast<size_t>(buffer.input)].push_back({static_cast<plan::ValueId>(i), offset});
        break;
      case plan::PlanValue::Storage::kOutput:
        output_views_[static_cast<size_t>(buffer.output)].push_back({static_cast<plan::ValueId>(i), offset});
        break;
      case plan::PlanValue::Storage::kHeap:
        break;
    }
    const tensor::Strides* strides = tensor::StridesOf(value.layout);
    if (strides == nullptr) {
      views_.emplace_back(value.type, value.shape, place);
    } else {
      views_.emplace_back(value.type, value.shape, *strides, place);
    }
  }
}

void Frame::BindSteps() {
  for (const plan::Step& step : plan_->steps) {
    BoundStep bound{.step = &step};
    for (plan::ValueId id : step.inputs) bound.inputs.push_back(&views_[static_cast<size_t>(id)]);
    for (plan::ValueId id : step.outputs) bound.outputs.push_back(&views_[static_cast<size_t>(id)]);
    if (step.scratch >= 0) bound.scratch = view(step.scratch).mutable_bytes();
    if (step.kernel != nullptr) bound.state = step.kernel->NewState();
    if (step.kind == plan::Step::Kind::kShapeCheck) bound.control = MakeShapeCheckStep(step, *plan_->graph);
    if (step.kind == plan::Step::Kind::kIf) bound.control = MakeIfStep(step, environment_);
    if (step.kind == plan::Step::Kind::kLoop) bound.control = MakeLoopStep(step, environment_);
    steps_.push_back(std::move(bound));
  }
}

FaultOr<Success> Frame::Run() {
  heap_.clear();
  const bool profiling = environment_.profiling;
  std::chrono::steady_clock::time_point start;
  for (BoundStep& bound : steps_) {
    if (profiling) start = std::chrono::steady_clock::now();
    FaultOr<Success> done = RunStep(bound);
    if (!done) return FaultAt(*bound.step, done.error());
    if (!profiling) continue;
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    Record(bound, elapsed.count());
  }
  return Success();
}

FaultOr<Success> Frame::RunStep(BoundStep& bound) {
  switch (bound.step->kind) {
    case plan::Step::Kind::kKernel:
      return bound.step->kernel->Run({.inputs = bound.inputs,
                                      .outputs = bound.outputs,
                                      .scratch = bound.scratch,
                                      .state = bound.state.get()});
    case plan::Step::Kind::kDynamic:
      return RunDynamic(bound);
    case plan::Step::Kind::kShapeCheck:
      return bound.control->Run(*this);
    case plan::Step::Kind::kReadState:
      return ReadState(bound);
    case plan::Step::Kind::kWriteState:
      return WriteState(bound);
    case plan::Step::Kind::kIf:
    case plan::Step::Kind::kLoop: {
      // The profile contains the time of the step as a whole.
      const bool profiling = std::exchange(environment_.profiling, false);
      FaultOr<Success> done = bound.control->Run(*this);
      environment_.profiling = profiling;
      return done;
    }
  }
  return Success();
}

const TensorValue* Frame::heap_result(size_t index) const {
  const auto found = heap_.find(plan_->results[index].value);
  return found == heap_.end() ? nullptr : &found->second;
}

FaultOr<TensorValue> Frame::ValueAsTensor(plan::ValueId id) const {
  const auto heap = heap_.find(id);
  if (heap != heap_.end() && !IsPacked(view(id).type())) return heap->second;
  return CopyOf(view(id), environment_.memory);
}

FaultOr<Success> Frame::SetValue(plan::ValueId id, const TensorValue& tensor) {
  tensor::MutableTensorView& view = views_[static_cast<size_t>(id)];
  const TensorValue stored = IsPacked(tensor.type()) ? CodesOf(tensor) : tensor;
  if (IsHeap(id)) {
    heap_[id] = stored;
    view = tensor::MutableTensorView(tensor.type(), tensor.shape(), const_cast<std::byte*>(stored.bytes()));
    return Success();
  }
  if (tensor.type() != view.type() || tensor.shape() != view.shape()) {
    return kernels::KernelFault("its value is {}{}; expected {}{}", Name(tensor.type()),
                                ToString(tensor.shape()), Name(view.type()), ToString(view.shape()));
  }
  if (view.byte_size() > 0) std::memcpy(view.mutable_bytes(), stored.bytes(), view.byte_size());
  return Success();
}

FaultOr<Success> Frame::RunDynamic(const BoundStep& bound) {
  std::vector<TensorValue> inputs;
  for (plan::ValueId id : bound.step->inputs) {
    FaultOr<TensorValue> input = ValueAsTensor(id);
    if (!input) return input.error();
    inputs.push_back(*input);
  }
  FaultOr<std::vector<TensorValue>> outputs = EvaluateDynamicNode(
      *bound.step->node, inputs, *environment_.plan_options.kernels, environment_.memory.left());
  if (!outputs) return outputs.error();
  for (size_t i = 0; i < bound.step->outputs.size(); ++i) {
    const TensorValue& output = (*outputs)[i];
    const std::shared_ptr<const Buffer> counted = environment_.memory.Count(output.buffer());
    if (counted == nullptr) return BeyondBudget();
    FaultOr<Success> set =
        SetValue(bound.step->outputs[i], TensorValue(output.type(), output.shape(), counted));
    if (!set) return set.error();
  }
  return Success();
}

// Reads the value assigned by the last run, or initially the initial value or zeros. All readers of this run
// see the same value.
FaultOr<Success> Frame::ReadState(const BoundStep& bound) {
  const ir::Node& node = *bound.step->node;
  const std::string variable = node.String("variable_id");
  for (const auto* state : {&environment_.state, &environment_.initial_state}) {
    if (const auto kept = state->find(variable); kept != state->end())
      return SetValue(bound.step->outputs[0], kept->second);
  }
  FaultOr<TensorValue> initial = kernels::KernelFault("its variable has no initial value of known shape");
  if (!bound.step->inputs.empty()) {
    initial = ValueAsTensor(bound.step->inputs[0]);
  } else if (const std::optional<Shape> shape = node.output().shape.extents()) {
    const TensorValue zeros = TensorValue::Filled(node.output().type, *shape, 0);
    const std::shared_ptr<const Buffer> counted = environment_.memory.Count(zeros.buffer());
    initial = counted == nullptr ? FaultOr<TensorValue>(BeyondBudget())
                                 : TensorValue(zeros.type(), zeros.shape(), counted);
  }
  if (!initial) return initial.error();
  environment_.initial_state[variable] = *initial;
  return SetValue(bound.step->outputs[0], *initial);
}

// Stores the new value separately until the run has succeeded, because all readers of this run see the old
// one.
FaultOr<Success> Frame::WriteState(const BoundStep& bound) {
  FaultOr<TensorValue> value = ValueAsTensor(bound.step->inputs[0]);
  if (!value) return value.error();
  environment_.next_state[bound.step->node->String("variable_id")] = *value;
  return Success();
}

void Frame::Record(const BoundStep& bound, double milliseconds) {
  const plan::Step& step = *bound.step;
  environment_.profile.push_back({.name = step.name,
                                  .operation = step.operation,
                                  .kernel = step.kernel != nullptr ? step.kernel->implementation() : "engine",
                                  .milliseconds = milliseconds,
                                  .shape = bound.outputs.empty() ? Shape() : bound.outputs[0]->shape(),
                                  .operations = step.work.operations,
                                  .bytes = step.work.bytes,
                                  .implementation = step.implementation,
                                  .rejected = step.rejected});
}

FaultOr<Frame*> BodyFrames::Get(const plan::PlannedInputs& inputs) {
  const auto found = std::find_if(frames_.begin(), frames_.end(), [&](const auto& frame) {
    return frame->plan().input_shapes == inputs.shapes;
  });
  if (found != frames_.end()) {
    std::rotate(frames_.begin(), found, found + 1);
    return frames_.front().get();
  }
  std::shared_ptr<const plan::Plan> plan = planned_;
  if (plan == nullptr || plan->input_shapes != inputs.shapes) {
    Emitter emitter;
    plan = plan::MakePlan(*body_.graph, inputs, environment_.plan_options, emitter);
    if (plan == nullptr)
      return kernels::FirstFault(emitter, kernels::KernelFault("its body does not accept its inputs"));
  }
  FaultOr<std::unique_ptr<Frame>> frame = Frame::Create(std::move(plan), environment_);
  if (!frame) return frame.error();
  frames_.insert(frames_.begin(), std::move(*frame));
  if (frames_.size() > kMaxFrames) frames_.pop_back();
  return frames_.front().get();
}

}  // namespace nnefc::runtime::engine::run

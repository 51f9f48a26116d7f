#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/engine/executable.h"
#include "runtime/engine/plan/plan.h"
#include "runtime/engine/run/memory_budget.h"
#include "runtime/kernels/fault.h"
#include "runtime/tensor/arena.h"
#include "runtime/tensor/tensor_view.h"

namespace nnefc::runtime::engine::run {

// The state shared by all frames of a session.
struct RunEnvironment {
  plan::PlanOptions plan_options = {};  // for bodies whose shapes are only known at run time
  MemoryBudget memory{0};
  std::map<std::string, TensorValue> state = {};
  std::map<std::string, TensorValue> initial_state = {};  // read in this run, of variables without a value
  std::map<std::string, TensorValue> next_state = {};     // assigned in this run
  int64_t iterations_left = 0;                            // over all loops of the run
  bool profiling = false;
  std::vector<StepProfile> profile = {};
};

class ControlStep;

// A step with the views of its operands and results.
struct BoundStep {
  const plan::Step* step = nullptr;
  llvm::SmallVector<const tensor::TensorView*, 4> inputs = {};
  llvm::SmallVector<const tensor::MutableTensorView*, 1> outputs = {};
  std::byte* scratch = nullptr;
  std::unique_ptr<kernels::KernelState> state = nullptr;
  std::unique_ptr<ControlStep> control = nullptr;
};

// Returns a copy in newly allocated memory.
kernels::FaultOr<TensorValue> CopyOf(const tensor::TensorView& view, const MemoryBudget& memory);

// A plan bound to memory. It can run any number of times.
class Frame {
 public:
  // Allocates the arena of a plan and binds its steps. Returns a fault if the budget is exceeded or memory is
  // short. `environment` must outlive the frame.
  static kernels::FaultOr<std::unique_ptr<Frame>> Create(std::shared_ptr<const plan::Plan> plan,
                                                         RunEnvironment& environment);
  ~Frame();
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  const plan::Plan& plan() const { return *plan_; }
  // Sets the memory of input `index`, or of buffer `index` of `Plan::outputs`. Both stay in effect until they
  // are set again.
  void SetInput(size_t index, const std::byte* bytes) { Place(input_views_[index], bytes); }
  void SetOutput(size_t index, const std::byte* bytes) { Place(output_views_[index], bytes); }
  // Executes all steps in order. Returns the first fault; the results are then undefined.
  kernels::FaultOr<Success> Run();
  // Returns a result of the last run. It is valid until the next run.
  const tensor::TensorView& result(size_t index) const { return view(plan_->results[index].value); }
  // Returns null unless the shape of the result is only known at run time.
  const TensorValue* heap_result(size_t index) const;
  const MemoryBudget& memory() const { return environment_.memory; }

  // Accessors for steps: the values of this frame.
  const tensor::MutableTensorView& view(plan::ValueId id) const { return views_[static_cast<size_t>(id)]; }
  bool IsHeap(plan::ValueId id) const { return value(id).storage == plan::PlanValue::Storage::kHeap; }
  const plan::PlanValue& value(plan::ValueId id) const { return plan_->values[static_cast<size_t>(id)]; }
  // Makes `tensor` the value of an output. Copies it if the shape is static, otherwise stores a reference.
  kernels::FaultOr<Success> SetValue(plan::ValueId id, const TensorValue& tensor);
  // Returns a value as a tensor: a reference if its shape is only known at run time, otherwise a copy.
  kernels::FaultOr<TensorValue> ValueAsTensor(plan::ValueId id) const;

 private:
  // A view at `offset` bytes into a buffer whose address is set before a run.
  struct PlacedView {
    plan::ValueId value;
    size_t offset;
  };
  using PlacedViews = std::vector<PlacedView>;

  Frame(std::shared_ptr<const plan::Plan> plan, tensor::Arena arena, Reservation reservation,
        RunEnvironment& environment);
  std::vector<bool> FindUsed() const;
  void BindViews();
  void BindSteps();
  void Place(const PlacedViews& placed, const std::byte* bytes) {
    for (const PlacedView& at : placed) views_[static_cast<size_t>(at.value)].set_bytes(bytes + at.offset);
  }
  kernels::FaultOr<Success> RunStep(BoundStep& bound);
  kernels::FaultOr<Success> RunDynamic(const BoundStep& bound);
  kernels::FaultOr<Success> ReadState(const BoundStep& bound);
  kernels::FaultOr<Success> WriteState(const BoundStep& bound);
  void Record(const BoundStep& bound, double milliseconds);

  std::shared_ptr<const plan::Plan> plan_;
  Reservation reservation_;  // the arena's
  tensor::Arena arena_;
  RunEnvironment& environment_;
  std::vector<tensor::MutableTensorView> views_;  // indexed by ValueId
  std::vector<PlacedViews> input_views_, output_views_;
  std::map<plan::ValueId, TensorValue> heap_;  // values with shapes found in this run
  std::vector<BoundStep> steps_;
};

// A step that is more than one kernel call, with its state between runs.
class ControlStep {
 public:
  virtual ~ControlStep() = default;
  // Sets the outputs of the step in `outer`, the frame that contains the step.
  virtual kernels::FaultOr<Success> Run(Frame& outer) = 0;
};

// The shape function applied to values of the run (shape_check_step.cpp), the bodies of If-8 (if_step.cpp),
// and those of TensorIterator-1 and Loop-5 (loop_step.cpp).
std::unique_ptr<ControlStep> MakeShapeCheckStep(const plan::Step& step, const ir::Graph& graph);
std::unique_ptr<ControlStep> MakeIfStep(const plan::Step& step, RunEnvironment& environment);
std::unique_ptr<ControlStep> MakeLoopStep(const plan::Step& step, RunEnvironment& environment);

// The frames of a body, cached by the shapes of its parameters (the most recent only).
class BodyFrames {
 public:
  // `planned` may be null.
  BodyFrames(const ir::Body& body, std::shared_ptr<const plan::Plan> planned, RunEnvironment& environment)
      : body_(body), planned_(std::move(planned)), environment_(environment) {}

  // Returns the frame for these inputs and plans the body if their shapes are new. The values of constant
  // inputs must be the same in all calls.
  kernels::FaultOr<Frame*> Get(const plan::PlannedInputs& inputs);

 private:
  const ir::Body& body_;
  std::shared_ptr<const plan::Plan> planned_;
  RunEnvironment& environment_;
  std::vector<std::unique_ptr<Frame>> frames_;  // most recently used first
};

}  // namespace nnefc::runtime::engine::run

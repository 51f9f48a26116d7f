#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/engine/executable.h"
#include "runtime/engine/memory_budget.h"
#include "runtime/engine/plan.h"
#include "runtime/kernels/fault.h"
#include "runtime/tensor/arena.h"
#include "runtime/tensor/tensor_view.h"

namespace nnefc::runtime {

// What the frames of a session share.
struct RunEnvironment {
  PlanOptions plan_options = {};  // for bodies whose shapes a run finds out
  MemoryBudget memory{0};
  std::map<std::string, TensorValue> state = {};
  std::map<std::string, TensorValue> next_state = {};  // what the run assigns
  int64_t iterations_left = 0;                         // of all loops of the run
  bool profiling = false;
  std::vector<StepProfile> profile = {};
};

class ControlStep;

// A step with the views it reads and writes.
struct BoundStep {
  const Step* step = nullptr;
  llvm::SmallVector<const TensorView*, 4> inputs = {};
  llvm::SmallVector<const MutableTensorView*, 1> outputs = {};
  std::byte* scratch = nullptr;
  std::unique_ptr<KernelState> state = nullptr;
  std::unique_ptr<ControlStep> control = nullptr;
};

// A copy in a buffer of its own.
FaultOr<TensorValue> CopyOf(const TensorView& view, const MemoryBudget& memory);

// A plan bound to memory, to be run any number of times.
class Frame {
 public:
  static FaultOr<std::unique_ptr<Frame>> Create(std::shared_ptr<const Plan> plan,
                                                RunEnvironment& environment);
  ~Frame();
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  const Plan& plan() const { return *plan_; }
  // Where the next run finds input `index`, and where it leaves the buffer
  // `index` of Plan::outputs. Both stay until they are set again.
  void SetInput(size_t index, const std::byte* bytes) { Place(input_views_[index], bytes); }
  void SetOutput(size_t index, const std::byte* bytes) { Place(output_views_[index], bytes); }
  FaultOr<Success> Run();
  // What the last run left; valid until the next.
  const TensorView& result(size_t index) const { return view(plan_->results[index].value); }
  // Null unless the shape of the result was found in the run.
  const TensorValue* heap_result(size_t index) const;
  const MemoryBudget& memory() const { return environment_.memory; }

  // For steps: the values of this frame.
  const MutableTensorView& view(ValueId id) const { return views_[static_cast<size_t>(id)]; }
  bool IsHeap(ValueId id) const { return value(id).storage == PlanValue::Storage::kHeap; }
  const PlanValue& value(ValueId id) const { return plan_->values[static_cast<size_t>(id)]; }
  // Makes `tensor` the value of an output: copied to its place if its shape is
  // known, otherwise kept.
  FaultOr<Success> SetValue(ValueId id, const TensorValue& tensor);
  FaultOr<TensorValue> ValueAsTensor(ValueId id) const;

 private:
  // A view that lies `offset` bytes into a buffer which is placed before a run.
  struct PlacedView {
    ValueId value;
    size_t offset;
  };
  using PlacedViews = std::vector<PlacedView>;

  Frame(std::shared_ptr<const Plan> plan, Arena arena, Reservation reservation, RunEnvironment& environment);
  std::vector<bool> FindUsed() const;
  void BindViews();
  void BindSteps();
  void Place(const PlacedViews& placed, const std::byte* bytes) {
    for (const PlacedView& at : placed) views_[static_cast<size_t>(at.value)].set_bytes(bytes + at.offset);
  }
  FaultOr<Success> RunStep(BoundStep& bound);
  FaultOr<Success> RunDynamic(const BoundStep& bound);
  FaultOr<Success> ReadState(const BoundStep& bound);
  FaultOr<Success> WriteState(const BoundStep& bound);
  void Record(const BoundStep& bound, double milliseconds);

  std::shared_ptr<const Plan> plan_;
  Reservation reservation_;  // of the arena
  Arena arena_;
  RunEnvironment& environment_;
  std::vector<MutableTensorView> views_;  // by ValueId
  std::vector<PlacedViews> input_views_, output_views_;
  std::map<ValueId, TensorValue> heap_;  // values of sizes found in this run
  std::vector<BoundStep> steps_;
};

// A step that is more than a call of a kernel, with what it keeps from run to run.
class ControlStep {
 public:
  virtual ~ControlStep() = default;
  // Sets the outputs of the step in `outer`, the frame that the step is in.
  virtual FaultOr<Success> Run(Frame& outer) = 0;
};

// The shape function on values of the run (judge_step.cpp); the bodies of If-8
// (if_step.cpp), and of TensorIterator-1 and Loop-5 (loop_step.cpp).
std::unique_ptr<ControlStep> MakeJudgeStep(const Step& step, const ir::Graph& graph);
std::unique_ptr<ControlStep> MakeIfStep(const Step& step, RunEnvironment& environment);
std::unique_ptr<ControlStep> MakeLoopStep(const Step& step, RunEnvironment& environment);

// The frames of a body, by the shapes of its parameters; the last few are kept.
class BodyFrames {
 public:
  // `planned` may be null.
  BodyFrames(const ir::Body& body, std::shared_ptr<const Plan> planned, RunEnvironment& environment)
      : body_(body), planned_(std::move(planned)), environment_(environment) {}

  // The frame for these inputs; the body is planned if it was not for such
  // shapes. The values of constant inputs are the same in all calls.
  FaultOr<Frame*> Get(const PlannedInputs& inputs);

 private:
  const ir::Body& body_;
  std::shared_ptr<const Plan> planned_;
  RunEnvironment& environment_;
  std::vector<std::unique_ptr<Frame>> frames_;  // the last used first
};

}  // namespace nnefc::runtime

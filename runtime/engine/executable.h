#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics.h"
#include "compiler/support/tensor/tensor_value.h"
#include "runtime/engine/limits.h"
#include "runtime/kernels/backend.h"
#include "runtime/kernels/fault.h"

namespace nnefc::runtime {

class KernelRegistry;

struct ExecutableOptions {
  Backend backend = Backend::kOneDnn;
  // kBf16 is kF32 where HasBf16() is not; what a user means by it PrecisionHere() tells.
  Precision precision = Precision::kF32;
  int threads = 0;  // 0: as many as the process may use
  RunLimits limits = {};
  // False: a step and memory of its own for each node, as the graph has it, to compare with.
  bool fuse = true;
  // A folder that keeps what planning takes long for, see PlanCache; "": none.
  std::string plan_cache = "";
  // Measures which way of a step is the fastest as it is planned. What a plan cache has of that is taken
  // without it, too.
  bool tune = false;
  // Not empty: the way of each step that has one of this name, to compare with.
  std::string way = "";
  // Adds kernels beside ours, if it is set.
  std::function<void(KernelRegistry&)> add_kernels = nullptr;
};

// A graph input or output as the user sees it.
struct Port {
  std::string name;
  ElementType type = ElementType::kDynamic;
  ir::PartialShape shape;
  std::vector<std::string> tensor_names;

  // Inputs of IR are known by the name of their layer and by those of its tensor.
  bool IsCalled(std::string_view candidate) const {
    return candidate == name ||
           std::find(tensor_names.begin(), tensor_names.end(), candidate) != tensor_names.end();
  }
};

// Time spent in one step of a plan.
struct StepProfile {
  std::string name;       // of the step's main node
  std::string operation;  // "Convolution+ReLU"
  std::string kernel;     // "onednn:jit:avx512_core", "reference"
  double milliseconds = 0;
  Shape shape;  // of its first output
  // What it takes at least: operations of numbers, a product and its addition being two, and
  // bytes of its inputs and outputs.
  double operations = 0;
  double bytes = 0;
};

// How much of what plans needed the plan cache had.
struct PlanCacheUse {
  int found = 0;
  int made = 0;
  int measured = 0;  // steps, of which it had no fastest way
};

// A graph made ready to run: weights in the layouts of their kernels, plans by
// input shapes. Immutable; any number of sessions of any threads share it.
class Executable {
 public:
  // Takes a graph of OpenVINO operations (after LowerGraph or read from XML).
  // Operations without a kernel and wrong nodes are emitted and give null.
  [[nodiscard]] static std::shared_ptr<const Executable> Create(std::shared_ptr<const ir::Graph> graph,
                                                                const ExecutableOptions& options,
                                                                Emitter& emitter);
  virtual ~Executable() = default;

  virtual const std::vector<Port>& inputs() const = 0;
  virtual const std::vector<Port>& outputs() const = 0;
  // A description of the plan for static shapes: one line a step.
  virtual std::string DescribePlan() const = 0;
  virtual PlanCacheUse plan_cache_use() const = 0;
  // Emits what is wrong with the environment of the plans, each fault once: oneDNN that cannot be loaded, a
  // plan cache that cannot be used. Create() does so; runs that plan for the shapes of their inputs may add
  // to it.
  virtual void TakeWarnings(Emitter& emitter) const = 0;
};

// One run at a time: the arena, the state of variables.
class Session {
 public:
  [[nodiscard]] static std::unique_ptr<Session> Create(std::shared_ptr<const Executable> executable);
  virtual ~Session() = default;

  // Runs the graph once. `inputs` in the order of Executable::inputs(), of
  // their types and of shapes that fit them. Returns outputs in order, or what
  // is wrong with the inputs (told by name), or the node that failed at run
  // time.
  virtual FaultOr<std::vector<TensorValue>> Run(const std::vector<TensorValue>& inputs) = 0;
  // Sets the variables back to their initial values.
  virtual void ResetState() = 0;
  // When on, Run records the time of each step.
  virtual void EnableProfile(bool on) = 0;
  virtual const std::vector<StepProfile>& profile() const = 0;
};

}  // namespace nnefc::runtime

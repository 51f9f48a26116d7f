#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/plan_functions.h"
#include "compiler/support/diagnostics/diagnostics.h"
#include "compiler/support/tensor/tensor_value.h"
#include "runtime/engine/limits.h"
#include "runtime/kernels/backend.h"
#include "runtime/kernels/fault.h"
#include "runtime/kernels/reason.h"

namespace nnefc::runtime::kernels {

class KernelRegistry;
}  // namespace nnefc::runtime::kernels

namespace nnefc::runtime::engine {

// Applies transformations, by their names, to the graph of a plan. Returns false after an error was emitted.
// Any number of threads may call it.
using GraphTransformer =
    std::function<bool(const std::vector<std::string>& names, const ir::PlanFunctions& functions,
                       ir::Graph& graph, Emitter& emitter)>;

struct ExecutableOptions {
  kernels::Backend backend = kernels::Backend::kFast;
  // The requested precision. kBf16 falls back to kF32 without `HasBf16()`; `EffectivePrecision()` maps a
  // user's choice to a precision of this machine.
  kernels::Precision precision = kernels::Precision::kF32;
  int threads = 0;  // 0: all that the process may use
  RunLimits limits = {};
  // False: one step with separate memory per node, exactly as in the graph (for comparison).
  bool fuse = true;
  // The folder of the persistent plan cache (see PlanCache); empty to disable it.
  std::string plan_cache = "";
  // Benchmarks the algorithms of each step while planning. Choices stored in a plan cache apply even if this
  // is false.
  bool tune = false;
  // If not empty, forces the implementation with this id on all steps that have it (for comparison).
  std::string way = "";
  // Records for each step the implementations that were rejected, with reasons (StepProfile::rejected).
  bool explains = false;
  // Applies the transformations of plans and those that the backend requests, if set. Without it, constants
  // are computed by each run.
  GraphTransformer transform = nullptr;
  // Registers additional kernels, if set.
  std::function<void(kernels::KernelRegistry&)> add_kernels = nullptr;
};

// A graph input or output as presented to the user.
struct Port {
  std::string name;
  ElementType type = ElementType::kDynamic;
  ir::PartialShape shape;
  std::vector<std::string> tensor_names;

  // Returns true for the name of the layer and for all names of its tensor (as in OpenVINO IR).
  bool IsCalled(std::string_view candidate) const {
    return candidate == name ||
           std::find(tensor_names.begin(), tensor_names.end(), candidate) != tensor_names.end();
  }
};

// The time spent in one step of a plan.
struct StepProfile {
  std::string name;       // name of the step's main node
  std::string operation;  // "Convolution+ReLU"
  std::string kernel;     // "onednn:jit:avx512_core", "reference"
  double milliseconds = 0;
  Shape shape;  // shape of the first output
  // The minimum cost of the step: arithmetic operations (a multiply-add counts as two), and bytes of inputs
  // and outputs.
  double operations = 0;
  double bytes = 0;
  std::string_view implementation = {};  // the id in the tables of its operation, or empty
  std::vector<kernels::RejectedImplementation> rejected = {};  // if ExecutableOptions::explains
};

// Statistics of plan cache lookups.
struct PlanCacheUse {
  int found = 0;
  int made = 0;
  int measured = 0;  // steps benchmarked because the cache had no choice for them
};

// A graph prepared for execution: weights in kernel layouts, and one plan per combination of input shapes.
// Immutable; any number of sessions on any threads may share it.
class Executable {
 public:
  // Prepares a graph of OpenVINO operations (lowered from NNEF or read from XML). Returns null and emits
  // diagnostics for invalid nodes and for operations without a kernel.
  [[nodiscard]] static std::shared_ptr<const Executable> Create(std::shared_ptr<const ir::Graph> graph,
                                                                const ExecutableOptions& options,
                                                                Emitter& emitter);
  virtual ~Executable() = default;

  virtual const std::vector<Port>& inputs() const = 0;
  virtual const std::vector<Port>& outputs() const = 0;
  // Describes the plan for static shapes, one line per step.
  virtual std::string DescribePlan() const = 0;
  virtual PlanCacheUse plan_cache_use() const = 0;
  // Emits each environment problem once, such as a missing oneDNN or an unusable plan cache. `Create()` calls
  // it; a run that plans for new input shapes may add further warnings.
  virtual void TakeWarnings(Emitter& emitter) const = 0;
};

// A single-threaded execution context that owns an arena and the states of variables.
class Session {
 public:
  [[nodiscard]] static std::unique_ptr<Session> Create(std::shared_ptr<const Executable> executable);
  virtual ~Session() = default;

  // Runs the graph once. `inputs` follow the order of `Executable::inputs()`, with matching types and
  // compatible shapes. Returns the outputs in order, or a fault that names the invalid input or the node that
  // failed.
  virtual kernels::FaultOr<std::vector<TensorValue>> Run(const std::vector<TensorValue>& inputs) = 0;
  // Resets all variables to their initial values.
  virtual void ResetState() = 0;
  // Turns recording of the time of each step on or off.
  virtual void EnableProfile(bool on) = 0;
  virtual const std::vector<StepProfile>& profile() const = 0;
};

}  // namespace nnefc::runtime::engine

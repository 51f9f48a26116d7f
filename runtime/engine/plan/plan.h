#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "runtime/engine/cache/weight_cache.h"
#include "runtime/engine/executable.h"
#include "runtime/engine/limits.h"
#include "runtime/engine/plan/prepare_graph.h"
#include "runtime/kernels/registry.h"
#include "runtime/tensor/arena.h"
#include "runtime/tensor/layout.h"

namespace nnefc::runtime::engine::cache {
class Tuner;
}  // namespace nnefc::runtime::engine::cache

namespace nnefc::runtime::engine::plan {

using ValueId = int32_t;

// A value that steps of a plan read or write.
struct PlanValue {
  enum class Storage : uint8_t {
    kConstant,  // in `data`, shared by all sessions
    kInput,     // an input of the run
    kOutput,    // in memory chosen by the caller of the plan
    kArena,     // in the session's arena
    kHeap,      // dynamic shape, allocated at run time
  };

  Storage storage = Storage::kArena;
  ElementType type = ElementType::kDynamic;
  Shape shape = {};  // empty for kHeap
  tensor::Layout layout = nullptr;
  size_t bytes = 0;
  std::shared_ptr<const Buffer> data = nullptr;
  int32_t input = -1;   // input index of a kInput root
  int32_t output = -1;  // output index of a kOutput root
  // Location: `offset` bytes into the value `root`. A value that is neither a part nor a view is its own
  // root.
  ValueId root = -1;
  size_t offset = 0;
  size_t arena_offset = 0;  // roots only
};

struct Plan;

// The minimum cost of a step, independent of its kernel.
struct StepWork {
  double operations = 0;  // arithmetic operations; a multiply-add counts as two
  double bytes = 0;       // size of inputs and outputs
};

// One kernel call, for one node or several fused nodes.
struct Step {
  enum class Kind : uint8_t {
    kKernel,
    kDynamic,     // shapes are inferred at run time from values
    kShapeCheck,  // repeats the shape function with values that are only known at run time
    kReadState,   // ReadValue
    kWriteState,  // Assign
    kIf,
    kLoop,  // TensorIterator, Loop
  };

  Kind kind = Kind::kKernel;
  const ir::Node* node = nullptr;
  std::string name = {};
  std::string operation = {};  // "Convolution+ReLU"
  std::shared_ptr<const kernels::Kernel> kernel = nullptr;
  // PreparedKernel::implementation, and the others if the options of the plan request them.
  std::string_view implementation = {};
  std::vector<kernels::RejectedImplementation> rejected = {};
  StepWork work = {};
  llvm::SmallVector<ValueId, 4> inputs = {};
  llvm::SmallVector<int32_t, 2> checked = {};  // kShapeCheck: the input indices of the node whose values are
                                               // checked
  llvm::SmallVector<ValueId, 1> outputs = {};
  ValueId scratch = -1;
  // Plans of the node's bodies for their initial shapes; null if these are only known at run time.
  llvm::SmallVector<std::shared_ptr<const Plan>, 2> bodies = {};
};

// A result of a plan and its location.
struct PlanResult {
  ValueId value = -1;
  ValueId root = -1;
  size_t offset = 0;
};

// The steps that run a graph for given input shapes. Immutable.
struct Plan {
  std::vector<Shape> input_shapes;
  std::unique_ptr<ir::Graph> graph;
  std::vector<PlanValue> values;
  std::vector<Step> steps;
  std::vector<PlanResult> results;
  // The kOutput roots, indexed by `PlanValue::output`. The caller places these buffers, so that slices are
  // written to their final location, and states and outputs are passed on without copies.
  std::vector<ValueId> outputs;
  size_t arena_bytes = 0;

  // Returns the bytes that a run needs: the arena and the buffers of `outputs`.
  size_t run_bytes() const;
};

struct PlanOptions {
  kernels::Backend backend;
  kernels::Precision precision;
  const kernels::KernelRegistry* kernels;
  const GraphTransformer* transform;
  cache::WeightCache* weights;
  RunLimits limits;
  // Enables fusion, the transformations that the backend requests, in-place results, and results written
  // directly into a larger value that contains them.
  bool fuse;
  // Selects implementations; null: the factories do.
  cache::Tuner* tuner = nullptr;
  // Records the implementations that were rejected, with reasons.
  bool explains = false;
};

// Plans the graph for these inputs. Returns null and emits diagnostics for errors of shape inference,
// constants without data and operations without a kernel.
[[nodiscard]] std::shared_ptr<const Plan> MakePlan(const ir::Graph& graph, const PlannedInputs& inputs,
                                                   const PlanOptions& options, Emitter& emitter);

// Describes a plan, one line per step.
std::string Describe(const Plan& plan);

}  // namespace nnefc::runtime::engine::plan

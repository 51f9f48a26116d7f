#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "runtime/engine/limits.h"
#include "runtime/engine/prepare_graph.h"
#include "runtime/engine/weight_cache.h"
#include "runtime/kernels/registry.h"
#include "runtime/tensor/arena.h"
#include "runtime/tensor/layout.h"

namespace nnefc::runtime {

using ValueId = int32_t;

// A value that steps of a plan read or write.
struct PlanValue {
  enum class Storage : uint8_t {
    kConstant,  // in `data`, shared by all sessions
    kInput,     // an input of the run
    kOutput,    // where who runs the plan wants it
    kArena,     // in the session's arena
    kHeap,      // of a size that each run finds out
  };

  Storage storage = Storage::kArena;
  ElementType type = ElementType::kDynamic;
  Shape shape = {};  // empty for kHeap
  Layout layout = nullptr;
  size_t bytes = 0;
  std::shared_ptr<const Buffer> data = nullptr;
  int32_t input = -1;   // which, of a root in kInput
  int32_t output = -1;  // which, of a root in kOutput
  // Where it lies: `offset` bytes into the value `root`, itself if it is
  // nobody's part or view.
  ValueId root = -1;
  size_t offset = 0;
  size_t arena_offset = 0;  // of a root
};

struct Plan;

// What a step takes at least, whatever its kernel makes of it.
struct StepWork {
  double operations = 0;  // of numbers: a product and its addition are two
  double bytes = 0;       // of its inputs and outputs
};

// One call of a kernel, for one node or several fused ones.
struct Step {
  enum class Kind : uint8_t {
    kKernel,
    kDynamic,     // shapes are found at run time, by shape inference on values
    kJudge,       // the shape function again, on values that a run alone knows
    kReadState,   // ReadValue
    kWriteState,  // Assign
    kIf,
    kLoop,  // TensorIterator, Loop
  };

  Kind kind = Kind::kKernel;
  const ir::Node* node = nullptr;
  std::string name = {};
  std::string operation = {};  // "Convolution+ReLU"
  std::shared_ptr<const Kernel> kernel = nullptr;
  StepWork work = {};
  llvm::SmallVector<ValueId, 4> inputs = {};
  llvm::SmallVector<int32_t, 2> judged = {};  // kJudge: which of the node's inputs they are
  llvm::SmallVector<ValueId, 1> outputs = {};
  ValueId scratch = -1;
  // Of a node with bodies: their plans for the shapes that they have at first;
  // null where those are found at run time.
  llvm::SmallVector<std::shared_ptr<const Plan>, 2> bodies = {};
};

// A result of a plan, and the buffer in which it lies.
struct PlanResult {
  ValueId value = -1;
  ValueId root = -1;
  size_t offset = 0;
};

// How to run a graph whose inputs have given shapes. Immutable.
struct Plan {
  std::vector<Shape> input_shapes;
  std::unique_ptr<ir::Graph> graph;
  std::vector<PlanValue> values;
  std::vector<Step> steps;
  std::vector<PlanResult> results;
  // The roots in kOutput, by PlanValue::output: buffers of results are placed by
  // who runs the plan, so that slices are made where they belong, and states
  // and outputs are passed on, not copied.
  std::vector<ValueId> outputs;
  size_t arena_bytes = 0;

  // What a run of it takes: the arena and the buffers of `outputs`.
  size_t run_bytes() const;
};

class Tuner;

struct PlanOptions {
  Backend backend;
  Precision precision;
  const KernelRegistry* kernels;
  WeightCache* weights;
  RunLimits limits;
  // Several nodes in a step, and rewritten graphs, where the backend has them; results in the
  // place of what is read no more, or in that of a whole that they are parts of.
  bool fuse;
  // Chooses ways; null: the factories do.
  Tuner* tuner = nullptr;
};

// Plans the graph for these inputs. Mistakes that shape inference finds,
// constants without data and operations without a kernel are emitted and give
// null.
[[nodiscard]] std::shared_ptr<const Plan> MakePlan(const ir::Graph& graph, const PlannedInputs& inputs,
                                                   const PlanOptions& options, Emitter& emitter);

// One line a step.
std::string Describe(const Plan& plan);

}  // namespace nnefc::runtime

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "runtime/engine/weight_cache.h"
#include "runtime/kernels/registry.h"
#include "runtime/tensor/layout.h"

namespace nnefc::runtime {

using ValueId = int32_t;

// A value that steps of a plan read or write.
struct PlanValue {
  enum class Storage : uint8_t {
    kConstant,  // in `data`, shared by all sessions
    kInput,     // an input of the run
    kArena,     // in the session's arena
    kHeap,      // of a size that each run finds out
  };

  Storage storage = Storage::kArena;
  ElementType type = ElementType::kDynamic;
  Shape shape = {};  // empty for kHeap
  Layout layout = nullptr;
  size_t bytes = 0;
  std::shared_ptr<const Buffer> data = nullptr;
  int32_t input = -1;
  // Where it lies: `offset` bytes into the value `root`, itself if it is
  // nobody's part or view.
  ValueId root = -1;
  size_t offset = 0;
  size_t arena_offset = 0;  // of a root
};

// One call of a kernel, for one node or several fused ones.
struct Step {
  enum class Kind : uint8_t {
    kKernel,
    kDynamic,     // shapes are found at run time, by shape inference on values
    kReadState,   // ReadValue
    kWriteState,  // Assign
  };

  Kind kind = Kind::kKernel;
  const ir::Node* node = nullptr;
  std::string name = {};
  std::string operation = {};  // "Convolution+ReLU"
  std::shared_ptr<const Kernel> kernel = nullptr;
  llvm::SmallVector<ValueId, 4> inputs = {};
  llvm::SmallVector<ValueId, 1> outputs = {};
  ValueId scratch = -1;
};

// How to run a graph whose inputs have given shapes. Immutable.
struct Plan {
  std::vector<Shape> input_shapes;
  std::unique_ptr<ir::Graph> graph;
  std::vector<PlanValue> values;
  std::vector<Step> steps;
  std::vector<ValueId> results;
  size_t arena_bytes = 0;
};

struct PlanOptions {
  Backend backend;
  const KernelRegistry* kernels;
  WeightCache* weights;
};

// Plans the graph for inputs of these shapes. Mistakes that shape inference
// finds, constants without data and operations without a kernel are emitted
// and give null.
std::shared_ptr<const Plan> MakePlan(const ir::Graph& graph, const std::vector<Shape>& input_shapes,
                                     const PlanOptions& options, Emitter& emitter);

// One line a step.
std::string Describe(const Plan& plan);

}  // namespace nnefc::runtime

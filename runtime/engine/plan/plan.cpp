// The creation of plans, and their description as text.

#include "runtime/engine/plan/plan.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <mutex>

#include "fmt/core.h"
#include "runtime/engine/evaluate.h"
#include "runtime/engine/plan/plan_builder.h"
#include "runtime/kernels/rules.h"

namespace nnefc::runtime::engine::plan {

namespace {

void DescribeSteps(const Plan& plan, int indent, std::string& text) {
  for (const Step& step : plan.steps) {
    const std::string implementation = step.kernel != nullptr ? step.kernel->implementation() : "engine";
    std::string result = "-";
    if (!step.outputs.empty()) {
      const PlanValue& value = plan.values[static_cast<size_t>(step.outputs[0])];
      const std::string shape = value.storage == PlanValue::Storage::kHeap ? "[...]" : ToString(value.shape);
      result = fmt::format("{}{}", Name(value.type), shape);
      if (value.layout != nullptr) result += " " + value.layout->ToString();
    }
    text += fmt::format("{:{}}{:<32} {:<40} {:<32} {}\n", "", indent, step.name, step.operation,
                        implementation, result);
    for (size_t i = 0; i < step.bodies.size(); ++i) {
      text += fmt::format("{:{}}{}:\n", "", indent + 2, step.node->bodies()[i].role);
      if (step.bodies[i] != nullptr) {
        DescribeSteps(*step.bodies[i], indent + 4, text);
      } else {
        text += fmt::format("{:{}}planned at run time\n", "", indent + 4);
      }
    }
  }
}

// Applies the transformations that the backend requests.
bool TransformGraph(PreparedGraph& prepared, const PlanOptions& options, Emitter& emitter) {
  const kernels::KernelRegistry::BackendHooks hooks = options.kernels->hooks(options.backend);
  if (hooks.request_transformations == nullptr || *options.transform == nullptr) return true;
  const std::vector<std::string> names = hooks.request_transformations(options.precision, options.fuse);
  if (names.empty()) return true;
  ir::PlanFunctions functions{.order = &prepared.order};
  functions.evaluate = [&](const ir::Node& node, llvm::ArrayRef<ir::Output> known,
                           llvm::ArrayRef<TensorValue> inputs) -> std::optional<std::vector<TensorValue>> {
    kernels::FaultOr<std::vector<TensorValue>> values = EvaluateNode(node, known, inputs, *options.kernels);
    return values ? std::optional(std::move(*values)) : std::nullopt;
  };
  if (hooks.quantize_filter != nullptr) {
    functions.quantize_filter = [&](const ir::Node& node, const TensorValue& filter) {
      return hooks.quantize_filter(node, filter, *options.weights);
    };
  }
  if (hooks.times != nullptr) functions.times = hooks.times();
  return (*options.transform)(names, functions, *prepared.graph, emitter);
}

// Returns memory freed while reading a network to the system before weights are laid out. Once per process,
// because later plans reuse those pages.
void GiveBackFreeHeap() {
#if defined(__GLIBC__)
  static std::once_flag done;
  std::call_once(done, [] { (void)::malloc_trim(0); });
#endif
}

}  // namespace

size_t Plan::run_bytes() const {
  size_t bytes = arena_bytes;
  for (ValueId id : outputs) {
    const size_t more = values[static_cast<size_t>(id)].bytes;
    bytes = bytes > SIZE_MAX - more ? SIZE_MAX : bytes + more;
  }
  return bytes;
}

std::shared_ptr<const Plan> MakePlan(const ir::Graph& graph, const PlannedInputs& inputs,
                                     const PlanOptions& options, Emitter& emitter) {
  auto plan = std::make_shared<Plan>();
  plan->input_shapes = inputs.shapes;
  PreparedGraph prepared = PrepareGraph(graph, inputs, options, emitter);
  if (prepared.graph == nullptr) return nullptr;
  if (!TransformGraph(prepared, options, emitter)) return nullptr;
  const std::vector<ir::NodeId>* order = prepared.order.Of(*prepared.graph);
  NNEFC_CHECK(order != nullptr);
  plan->graph = std::move(prepared.graph);
  if (!PlanBuilder(*plan, prepared.unchecked, options, emitter).Build(*order)) return nullptr;
  GiveBackFreeHeap();
  if (kernels::FaultOr<Success> done = options.weights->Finish(); !done) {
    emitter.Emit(kernels::kRuntimeMemory, {}, "constants cannot be laid out for their kernels: {}",
                 done.error().message);
    return nullptr;
  }
  if (!PlaceInArena(*plan)) {
    emitter.Emit(kernels::kRuntimeMemory, {}, "the values of the graph do not fit into memory");
    return nullptr;
  }
  if (plan->run_bytes() > options.limits.bytes) {
    emitter.Emit(kernels::kRuntimeMemory, {},
                 "the values of the graph take {} bytes; at most {} are allowed (`--max-memory`)",
                 plan->run_bytes(), options.limits.bytes);
    return nullptr;
  }
  return plan;
}

std::string Describe(const Plan& plan) {
  std::string text;
  DescribeSteps(plan, 0, text);
  text += fmt::format("{} steps, arena and outputs {:.1f} MB\n", plan.steps.size(),
                      static_cast<double>(plan.run_bytes()) / 1e6);
  return text;
}

}  // namespace nnefc::runtime::engine::plan

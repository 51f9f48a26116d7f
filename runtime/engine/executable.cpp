// A compiled model: its plan, inputs and outputs.

#include "runtime/engine/executable.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <new>

#include "compiler/ir/algorithms/verify.h"
#include "fmt/core.h"
#include "runtime/engine/cache/machine_digest.h"
#include "runtime/engine/executable_impl.h"
#include "runtime/engine/plan/loop_count.h"
#include "runtime/fast/register.h"
#include "runtime/kernels/rules.h"
#include "runtime/onednn/onednn.h"
#include "runtime/onednn/register.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime::engine {

namespace {

// Maximum number of cached plans for different input shapes.
constexpr size_t kMaxPlans = 8;

Port MakePort(const std::string& name, const ir::Output& output) {
  return {name, output.type, output.shape, output.names};
}

size_t MemoryOfMachine() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page <= 0) return std::numeric_limits<size_t>::max();
  return static_cast<size_t>(pages) * static_cast<size_t>(page);
}

double BytesOfConstants(const ir::Graph& graph) {
  double sum = 0;
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (node.Is(ir::OpRole::kConst) && node.output().value)
      sum += static_cast<double>(node.output().value->byte_size());
    for (const ir::Body& body : node.bodies()) sum += BytesOfConstants(*body.graph);
  }
  return sum;
}

// Returns the size of the shared last-level cache.
double BytesOfCache() {
  constexpr double kUsual = 32 << 20;
  const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return bytes > 0 ? static_cast<double>(bytes) : kUsual;
}

// A graph and its nesting depth in bodies.
struct NestedGraph {
  const ir::Graph* graph;
  int depth;
};

// Adds the bodies that a run may reach: only one if the condition of an If is constant.
void AddBodies(const ir::Graph& graph, const ir::Node& node, int depth, std::vector<NestedGraph>& graphs) {
  for (size_t i = 0; i < node.bodies().size(); ++i) {
    if (node.Is(ir::OpRole::kIf) && node.num_inputs() > 0) {
      const std::optional<TensorValue>& condition = graph.output(node.input(0)).value;
      const bool constant = condition && condition->volume() == 1;
      if (constant && (condition->ElementAsInt(0) != 0) != (i == 0)) continue;
    }
    graphs.push_back({node.bodies()[i].graph.get(), depth + 1});
  }
}

}  // namespace

ExecutableImpl::ExecutableImpl(std::shared_ptr<const ir::Graph> graph, const ExecutableOptions& options)
    : graph_(std::move(graph)),
      backend_(options.backend),
      precision_(options.precision == kernels::Precision::kBf16 && !fast::HasBf16() ? kernels::Precision::kF32
                                                                                    : options.precision),
      threads_(options.threads > 0 ? options.threads : tensor::AvailableThreads()),
      limits_(options.limits),
      fuse_(options.fuse),
      explains_(options.explains),
      add_kernels_(options.add_kernels),
      transform_(options.transform),
      cache_(options.plan_cache.empty() ? nullptr : std::make_unique<cache::PlanCache>(options.plan_cache)) {
  if (limits_.bytes == 0) limits_.bytes = MemoryOfMachine();
  for (ir::NodeId id : graph_->parameters())
    inputs_.push_back(MakePort(graph_->node(id).name(), graph_->node(id).output()));
  for (ir::NodeId id : graph_->results()) {
    outputs_.push_back(MakePort(graph_->node(id).name(), graph_->output(graph_->node(id).input(0))));
  }
  kernels::RegisterReferenceKernels(kernels_);
  if (backend_ == kernels::Backend::kFast) fast::RegisterFastKernels(kernels_, onednn::OneDnnExtension());
  if (add_kernels_) added_ = kernels_.AddForeign(add_kernels_);
  if (options.tune || !options.way.empty() || cache_ != nullptr) {
    tuner_ = std::make_unique<cache::Tuner>(
        kernels_, cache_.get(),
        cache::Tuner::Options{.backend = backend_,
                              .measures = options.tune,
                              .only = options.way,
                              .has_cold_weights = BytesOfConstants(*graph_) > BytesOfCache()});
  }
}

PlanCacheUse ExecutableImpl::plan_cache_use() const {
  PlanCacheUse use = cache_ != nullptr ? cache_->use() : PlanCacheUse();
  if (tuner_ != nullptr) use.measured = tuner_->num_measured();
  return use;
}

Digest ExecutableImpl::DigestOfModel() const {
  return FieldDigest()
      .Add(cache::DigestOfMachine())
      .Add(cache_->DigestOf(*graph_))
      .Add(backend_)
      .Add(precision_)
      .Add(threads_)
      .Finish();
}

void ExecutableImpl::TakeWarnings(Emitter& emitter) const {
  const std::string fault = backend_ == kernels::Backend::kFast ? onednn::OneDnnLoadError() : std::string();
  if (!fault.empty() && !has_reported_onednn_.exchange(true))
    emitter.Emit(kernels::kNoOneDnn, {},
                 "some operations run in reference kernels, which are slow, because oneDNN is missing: {}",
                 fault);
  if (cache_ == nullptr) return;
  for (const std::string& warning : cache_->TakeWarnings())
    emitter.Emit(kernels::kPlanCache, {}, "the plan cache: {}", warning);
}

bool ExecutableImpl::HasKernel(const ir::Node& node) const {
  if (node.Is(ir::OpRole::kResult) || node.Is(ir::OpRole::kParameter) || node.Is(ir::OpRole::kConst))
    return true;
  if (node.Is(ir::OpRole::kIf) || node.Is(ir::OpRole::kTensorIterator) || plan::IsLoop(node)) return true;
  if (node.Is(ir::OpRole::kReadValue) || node.Is(ir::OpRole::kAssign)) return true;
  return kernels_.Find(kernels::Backend::kReference, node.set(), node.type()) != nullptr;
}

bool ExecutableImpl::CheckKernels(Emitter& emitter) const {
  bool ok = true;
  std::vector<NestedGraph> graphs = {{graph_.get(), 0}};
  while (!graphs.empty()) {
    const auto [graph, depth] = graphs.back();
    graphs.pop_back();
    if (depth > ir::kMaxBodyNesting) {
      emitter.Emit(kernels::kRuntimeNesting, {}, "bodies are nested more than {} deep", ir::kMaxBodyNesting);
      return false;
    }
    if (!ir::TopologicalOrder(*graph)) {
      emitter.Emit(kernels::kRuntimeCycle, {}, "the graph{} has a cycle", depth > 0 ? " of a body" : "");
      ok = false;
    }
    for (ir::NodeId id : graph->nodes()) {
      const ir::Node& node = graph->node(id);
      AddBodies(*graph, node, depth, graphs);
      if (HasKernel(node)) continue;
      emitter
          .Emit(kernels::kNoKernel, node.origin().range, "`{}` is a `{}.{}`, which has no kernel",
                node.name(), node.set(), node.type())
          .Notes(ir::StackNotes(node.origin().frame));
      ok = false;
    }
  }
  return ok;
}

bool ExecutableImpl::Check(Emitter& emitter) {
  if (!added_) {
    kernels::Emit(added_.error(), emitter);
    return false;
  }
  if (!CheckKernels(emitter)) return false;
  if (cache_ != nullptr) cache_->Open(DigestOfModel());
  std::vector<Shape> shapes;
  for (const Port& port : inputs_) {
    const std::optional<Shape> shape = port.shape.extents();
    if (shape) shapes.push_back(*shape);
  }
  const bool ok = shapes.size() < inputs_.size() || AddPlan(shapes, emitter) != nullptr;
  TakeWarnings(emitter);
  return ok;
}

std::shared_ptr<const plan::Plan> ExecutableImpl::FindPlan(const std::vector<Shape>& shapes) const {
  auto found = std::find_if(plans_.begin(), plans_.end(),
                            [&](const auto& plan) { return plan->input_shapes == shapes; });
  if (found == plans_.end()) return nullptr;
  plans_.splice(plans_.begin(), plans_, found);
  return plans_.front();
}

std::shared_ptr<const plan::Plan> ExecutableImpl::AddPlan(const std::vector<Shape>& shapes,
                                                          Emitter& emitter) const {
  // oneDNN partitions work by the thread count that it sees now.
  const tensor::ThreadScope scope(threads_);
  plan::PlanOptions options = plan_options();
  options.tuner = tuner_.get();
  std::shared_ptr<const plan::Plan> plan = plan::MakePlan(*graph_, {.shapes = shapes}, options, emitter);
  if (cache_ != nullptr) cache_->Save();
  if (plan == nullptr) return nullptr;
  plans_.push_front(plan);
  if (plans_.size() > kMaxPlans) plans_.pop_back();
  return plan;
}

kernels::FaultOr<std::shared_ptr<const plan::Plan>> ExecutableImpl::GetPlan(
    const std::vector<Shape>& shapes) const {
  const std::lock_guard lock(mutex_);
  if (std::shared_ptr<const plan::Plan> plan = FindPlan(shapes)) return plan;
  Emitter emitter;
  std::shared_ptr<const plan::Plan> plan = AddPlan(shapes, emitter);
  if (plan != nullptr) return plan;
  return kernels::FirstFault(emitter,
                             kernels::KernelFault("the graph does not accept inputs of these shapes"));
}

std::string ExecutableImpl::DescribePlan() const {
  const std::lock_guard lock(mutex_);
  if (plans_.empty()) return "no plan yet: the shapes of the inputs are not known\n";
  return Describe(*plans_.front());
}

std::shared_ptr<const Executable> Executable::Create(std::shared_ptr<const ir::Graph> graph,
                                                     const ExecutableOptions& options, Emitter& emitter) {
  try {
    auto executable = std::make_shared<ExecutableImpl>(std::move(graph), options);
    if (!executable->Check(emitter)) return nullptr;
    return executable;
  } catch (const std::bad_alloc&) {
    emitter.Emit(kernels::kRuntimeMemory, {}, "out of memory");
    return nullptr;
  }
}

}  // namespace nnefc::runtime::engine

#include "runtime/engine/executable.h"

#include <omp.h>

#include <algorithm>
#include <new>

#include "fmt/format.h"
#include "runtime/engine/executable_impl.h"
#include "runtime/engine/rules.h"
#include "runtime/onednn/register.h"

namespace nnefc::runtime {

namespace {

// Plans for other input shapes that are kept.
constexpr size_t kMostPlans = 8;

Port MakePort(const std::string& name, const ir::Output& output) {
  return {name, output.type, output.shape};
}

}  // namespace

ThreadScope::ThreadScope(int threads) : before_(omp_get_max_threads()) {
  omp_set_num_threads(threads);
}
ThreadScope::~ThreadScope() {
  omp_set_num_threads(before_);
}

ExecutableImpl::ExecutableImpl(std::shared_ptr<const ir::Graph> graph, const ExecutableOptions& options)
    : graph_(std::move(graph)),
      backend_(options.backend),
      threads_(options.threads > 0 ? options.threads : omp_get_num_procs()) {
  for (ir::NodeId id : graph_->parameters())
    inputs_.push_back(MakePort(graph_->node(id).name(), graph_->node(id).output()));
  for (ir::NodeId id : graph_->results()) {
    outputs_.push_back(MakePort(graph_->node(id).name(), graph_->output(graph_->node(id).input(0))));
  }
  RegisterReferenceKernels(kernels_);
  if (backend_ == Backend::kOneDnn) RegisterOneDnnKernels(kernels_);
}

bool ExecutableImpl::HasKernel(const ir::Node& node) const {
  if (node.Is("opset1", "Result") || node.Is("opset1", "Parameter") || node.Is("opset1", "Const"))
    return true;
  if (node.Is("opset6", "ReadValue") || node.Is("opset6", "Assign")) return true;
  return kernels_.Find(Backend::kReference, node.set(), node.type()) != nullptr;
}

bool ExecutableImpl::Check(Emitter& emitter) {
  bool ok = true;
  for (ir::NodeId id : graph_->nodes()) {
    const ir::Node& node = graph_->node(id);
    if (HasKernel(node)) continue;
    emitter
        .Emit(kNoKernel, node.origin().range, "`{}` is a `{}.{}`, which has no kernel", node.name(),
              node.set(), node.type())
        .Notes(ir::StackNotes(node.origin().frame));
    ok = false;
  }
  if (!ok) return false;
  std::vector<Shape> shapes;
  for (const Port& port : inputs_) {
    const std::optional<Shape> shape = port.shape.extents();
    if (!shape) return true;
    shapes.push_back(*shape);
  }
  return AddPlan(shapes, emitter) != nullptr;
}

std::shared_ptr<const Plan> ExecutableImpl::FindPlan(const std::vector<Shape>& shapes) const {
  auto found = std::find_if(plans_.begin(), plans_.end(),
                            [&](const auto& plan) { return plan->input_shapes == shapes; });
  if (found == plans_.end()) return nullptr;
  plans_.splice(plans_.begin(), plans_, found);
  return plans_.front();
}

std::shared_ptr<const Plan> ExecutableImpl::AddPlan(const std::vector<Shape>& shapes,
                                                    Emitter& emitter) const {
  // oneDNN cuts work by the number of threads that it sees now.
  const ThreadScope scope(threads_);
  std::shared_ptr<const Plan> plan =
      MakePlan(*graph_, shapes, {.backend = backend_, .kernels = &kernels_, .weights = &weights_}, emitter);
  if (plan == nullptr) return nullptr;
  plans_.push_front(plan);
  if (plans_.size() > kMostPlans) plans_.pop_back();
  return plan;
}

ErrorOr<std::shared_ptr<const Plan>> ExecutableImpl::GetPlan(const std::vector<Shape>& shapes) const {
  const std::lock_guard lock(mutex_);
  if (std::shared_ptr<const Plan> plan = FindPlan(shapes)) return plan;
  Emitter emitter;
  std::shared_ptr<const Plan> plan = AddPlan(shapes, emitter);
  if (plan != nullptr) return plan;
  if (emitter.diagnostics().empty()) return SystemError{"the graph does not accept inputs of these shapes"};
  return SystemError{emitter.diagnostics().front().message};
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
    emitter.Emit(kRuntimeMemory, {}, "out of memory");
    return nullptr;
  }
}

}  // namespace nnefc::runtime

// Preparation of a graph for planning: inference for the shapes of the plan, and its first transformations.

#include "runtime/engine/plan/prepare_graph.h"

#include <utility>

#include "compiler/ir/algorithms/copy.h"
#include "compiler/ir/algorithms/infer.h"
#include "runtime/engine/evaluate.h"
#include "runtime/engine/plan/plan.h"
#include "runtime/kernels/rules.h"

namespace nnefc::runtime::engine::plan {

namespace {

// Reports all constants without data.
bool HasAllData(const ir::Graph& graph, Emitter& emitter) {
  bool ok = true;
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (!node.Is(ir::OpRole::kConst) || node.output().value) continue;
    emitter.Emit(kernels::kConstantWithoutData, node.origin().range, "the constant `{}` has no data",
                 node.name());
    ok = false;
  }
  return ok;
}

// Aligns all constants, because kernels read them in place. The recursion depth is the nesting depth of
// bodies.
void AlignConstants(ir::Graph& graph) {
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (node.Is(ir::OpRole::kConst) && node.output().value)
      graph.SetOutputValue(node.port(), node.output().value->AlignedToElements());
    for (size_t i = 0; i < node.bodies().size(); ++i) AlignConstants(*graph.body(id, i).graph);
  }
}

// Returns a copy whose parameters have the given shapes and values.
std::unique_ptr<ir::Graph> CopyForInputs(const ir::Graph& source, const PlannedInputs& inputs) {
  std::unique_ptr<ir::Graph> copy = ir::Clone(source);
  NNEFC_CHECK(inputs.shapes.size() == source.parameters().size());
  for (size_t i = 0; i < inputs.shapes.size(); ++i) {
    const ir::Node& node = copy->node(copy->parameters()[i]);
    const ir::PartialShape shape{llvm::ArrayRef<int64_t>(inputs.shapes[i])};
    const bool is_constant = !inputs.constants.empty() && inputs.constants[i].valid();
    copy->SetAttribute(node.id(), "shape", shape);
    copy->SetOutputType(node.port(), is_constant ? inputs.constants[i].type() : node.output().type, shape);
    if (is_constant) copy->SetOutputValue(node.port(), inputs.constants[i]);
  }
  AlignConstants(*copy);
  copy->EraseDeadNodes();
  return copy;
}

// Returns the first If with a constant condition.
std::optional<ir::NodeId> FindSelectedBranch(const ir::Graph& graph) {
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (!node.Is(ir::OpRole::kIf)) continue;
    const std::optional<TensorValue>& condition = graph.output(node.input(0)).value;
    if (condition && condition->volume() == 1) return id;
  }
  return std::nullopt;
}

// The preparation of a copied graph.
class Preparation {
 public:
  Preparation(PreparedGraph& prepared, const PlanOptions& options, Emitter& emitter)
      : prepared_(prepared), graph_(*prepared.graph), options_(options), emitter_(emitter) {}

  bool Run() { return Evaluate() && InlineSelectedBranches() && ReportFailures(); }

 private:
  // Infers all nodes. The transformation that replaces constant nodes does so in the same order, so that the
  // shapes of a node may depend on constants.
  bool Evaluate() {
    prepared_.unchecked.clear();
    prepared_.failures.clear();
    inferred_.assign(graph_.node_bound(), false);
    errors_ = Emitter();
    is_valid_ = true;
    Emitter transformed;
    const bool ok = *options_.transform == nullptr ||
                    (*options_.transform)({"target.EvaluateConstants"}, MakeFunctions(), graph_, transformed);
    graph_.EraseDeadNodes();
    if (!HasAllData(graph_, emitter_)) return false;
    if (ok) InferOthers();
    // A graph that violates a rule may be invalid for the pipeline, too.
    if (is_valid_) emitter_.Take(std::move(transformed));
    emitter_.Take(std::move(errors_));
    return ok && is_valid_;
  }

  ir::PlanFunctions MakeFunctions() {
    return {.evaluate = [this](const ir::Node& node, llvm::ArrayRef<ir::Output> known,
                               llvm::ArrayRef<TensorValue> inputs) { return ValuesOf(node, known, inputs); },
            .infer = [this](ir::NodeId id) { return Infer(id); },
            .order = &prepared_.order};
  }

  std::optional<std::vector<TensorValue>> ValuesOf(const ir::Node& node, llvm::ArrayRef<ir::Output> known,
                                                   llvm::ArrayRef<TensorValue> inputs) {
    const kernels::KernelRegistry& kernels = *options_.kernels;
    if (kernels.Find(kernels::Backend::kReference, node.set(), node.type()) == nullptr) return std::nullopt;
    if (const auto later = EvaluateLater(node, graph_.registry(), inputs, kernels))
      return std::vector{*later};
    kernels::FaultOr<std::vector<TensorValue>> values = EvaluateNode(node, known, inputs, kernels);
    if (values) return std::move(*values);
    prepared_.failures.emplace_back(node.id(), values.error().message);
    return std::nullopt;
  }

  // Infers a node; after an error, only to report further errors.
  bool Infer(ir::NodeId id) {
    inferred_[static_cast<size_t>(id.index)] = true;
    llvm::SmallVector<int32_t, 2> unknown;
    const bool ok = ir::InferNode(graph_, id, errors_, nullptr, &unknown);
    if (ok && is_valid_ && !unknown.empty()) prepared_.unchecked[id] = unknown;
    is_valid_ = is_valid_ && ok;
    return is_valid_;
  }

  // Infers the nodes that the transformation did not infer, all of them if it is disabled. Types of constants
  // and parameters are already set.
  void InferOthers() {
    const std::vector<ir::NodeId>* order = prepared_.order.Of(graph_);
    NNEFC_CHECK(order != nullptr);
    inferred_.resize(graph_.node_bound(), false);
    for (ir::NodeId id : *order) {
      if (!inferred_[static_cast<size_t>(id.index)] && !graph_.node(id).info().is_source) Infer(id);
    }
  }

  // Inlines the selected branches. Their nodes, once prepared, may select further branches; the nesting of
  // bodies limits the number of rounds.
  bool InlineSelectedBranches() {
    if (*options_.transform == nullptr) return true;
    while (const std::optional<ir::NodeId> selected = FindSelectedBranch(graph_)) {
      if (!(*options_.transform)({"target.InlineSelectedBranch"}, {.order = &prepared_.order}, graph_,
                                 emitter_))
        return false;
      graph_.EraseDeadNodes();
      if (graph_.Contains(*selected)) return true;  // the transformation is disabled
      if (!Evaluate()) return false;
    }
    return true;
  }

  // Reports the failures of nodes that are still in the graph because a result or a sink needs them.
  bool ReportFailures() {
    bool ok = true;
    for (const auto& [id, message] : prepared_.failures) {
      if (!graph_.Contains(id)) continue;
      const ir::Node& node = graph_.node(id);
      emitter_.Emit(kernels::kConstantEvaluation, node.origin().range, "`{}` ({}): {}", node.name(),
                    node.type(), message);
      ok = false;
    }
    return ok;
  }

  PreparedGraph& prepared_;
  ir::Graph& graph_;
  const PlanOptions& options_;
  Emitter& emitter_;
  Emitter errors_;              // of inference
  bool is_valid_ = true;        // no error of inference
  std::vector<bool> inferred_;  // by node index
};

}  // namespace

PreparedGraph PrepareGraph(const ir::Graph& graph, const PlannedInputs& inputs, const PlanOptions& options,
                           Emitter& emitter) {
  PreparedGraph prepared{.graph = CopyForInputs(graph, inputs)};
  // The nodes of a copy follow their inputs.
  prepared.order = ir::NodeOrder(*prepared.graph, prepared.graph->nodes());
  if (!Preparation(prepared, options, emitter).Run()) return {};
  return prepared;
}

}  // namespace nnefc::runtime::engine::plan

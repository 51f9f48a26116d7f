// Preparation of a graph for planning, such as the evaluation of nodes with constant inputs.

#include "runtime/engine/plan/prepare_graph.h"

#include <iterator>

#include "compiler/ir/copy.h"
#include "compiler/ir/fold.h"
#include "compiler/ir/infer.h"
#include "llvm/ADT/STLExtras.h"
#include "runtime/engine/evaluate.h"
#include "runtime/engine/plan/plan.h"
#include "runtime/kernels/rules.h"

namespace nnefc::runtime::engine::plan {

namespace {

// Counts elements, so that weights which a file stores in a narrower type are folded too; a plan holds them
// anyway.
constexpr ir::FoldBound kFoldBound = {.bytes = size_t{4} << 20, .times_inputs = 2, .counts_elements = true};

// Reports all constants without data.
bool HasAllData(const ir::Graph& graph, llvm::ArrayRef<ir::NodeId> order, Emitter& emitter) {
  bool ok = true;
  for (ir::NodeId id : order) {
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

// Returns a copy whose parameters have the given shapes. Constants replace the uses of parameters with known
// values.
std::unique_ptr<ir::Graph> CopyForInputs(const ir::Graph& source, const PlannedInputs& inputs) {
  std::unique_ptr<ir::Graph> copy = ir::Clone(source);
  NNEFC_CHECK(inputs.shapes.size() == source.parameters().size());
  for (size_t i = 0; i < inputs.shapes.size(); ++i) {
    const ir::Node& node = copy->node(copy->parameters()[i]);
    const ir::PartialShape shape{llvm::ArrayRef<int64_t>(inputs.shapes[i])};
    copy->SetAttribute(node.id(), "shape", shape);
    copy->SetOutputType(node.port(), node.output().type, shape);
    if (inputs.constants.empty() || !inputs.constants[i].valid()) continue;
    copy->ReplaceAllUses(node.port(), {copy->AddConst(inputs.constants[i], node.name(), node.origin()), 0});
  }
  AlignConstants(*copy);
  return copy;
}

void PutConstant(ir::Graph& graph, const ir::Node& node, int32_t output, const TensorValue& value) {
  const ir::NodeId constant = graph.AddConst(value, node.name(), node.origin());
  graph.ReplaceAllUses(node.port(output), {constant, 0});
}

// Replaces values that the graph already knows by constants, so that the nodes that computed them need not be
// valid.
void PutKnownValues(ir::Graph& graph) {
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (!ir::IsFoldable(node)) continue;
    for (int32_t i = 0; i < node.num_outputs(); ++i) {
      const std::optional<TensorValue>& value = node.outputs()[static_cast<size_t>(i)].value;
      if (value && !node.uses(i).empty()) PutConstant(graph, node, i, *value);
    }
  }
}

// Replaces the outputs of a node whose values follow from constants.
void FoldNode(PreparedGraph& prepared, ir::NodeId id, const kernels::KernelRegistry& kernels) {
  ir::Graph& graph = *prepared.graph;
  const ir::Node& node = graph.node(id);
  if (!ir::IsFoldable(node)) return;
  std::vector<std::optional<TensorValue>> values;
  for (const ir::Output& output : node.outputs()) values.push_back(output.value);
  const bool inferred = llvm::all_of(values, [](const auto& value) { return value.has_value(); });
  if (!inferred && node.num_inputs() > 0 &&
      kernels.Find(kernels::Backend::kReference, node.set(), node.type()) != nullptr) {
    if (const auto inputs = ir::KnownInputs(graph, node, kFoldBound)) {
      if (const auto later = EvaluateLater(node, graph.registry(), *inputs, kernels)) {
        PutConstant(graph, node, 0, *later);
        return;
      }
      kernels::FaultOr<std::vector<TensorValue>> outputs =
          EvaluateNode(node, node.outputs(), *inputs, kernels);
      if (!outputs) {
        prepared.failures.emplace_back(id, outputs.error().message);
        return;
      }
      values.assign(outputs->begin(), outputs->end());
    }
  }
  for (int32_t i = 0; i < node.num_outputs(); ++i) {
    if (const std::optional<TensorValue>& value = values[static_cast<size_t>(i)])
      PutConstant(graph, node, i, *value);
  }
}

// Reports the failures of nodes that are still in the graph because a result or a sink needs them.
bool ReportFailures(const PreparedGraph& prepared, Emitter& emitter) {
  bool ok = true;
  for (const auto& [id, message] : prepared.failures) {
    if (!prepared.graph->Contains(id)) continue;
    const ir::Node& node = prepared.graph->node(id);
    emitter.Emit(kernels::kConstantEvaluation, node.origin().range, "`{}` ({}): {}", node.name(), node.type(),
                 message);
    ok = false;
  }
  return ok;
}

bool PrepareNode(PreparedGraph& prepared, ir::NodeId id, const kernels::KernelRegistry& kernels,
                 Emitter& emitter) {
  ir::Graph& graph = *prepared.graph;
  const ir::Node& node = graph.node(id);
  llvm::SmallVector<int32_t, 2> unknown;
  // Types of constants and parameters are already set.
  if (!node.info().is_source && !ir::InferNode(graph, id, emitter, nullptr, &unknown)) return false;
  if (!unknown.empty()) prepared.unchecked[id] = unknown;
  FoldNode(prepared, id, kernels);
  return true;
}

// Infers and folds the nodes of the graph, in topological order.
bool PrepareNodes(PreparedGraph& prepared, llvm::ArrayRef<ir::NodeId> order,
                  const kernels::KernelRegistry& kernels, Emitter& emitter) {
  ir::Graph& graph = *prepared.graph;
  if (!HasAllData(graph, order, emitter)) return false;
  prepared.unchecked.clear();
  prepared.failures.clear();
  bool ok = true;
  for (ir::NodeId id : order) {
    if (ok) {
      ok = PrepareNode(prepared, id, kernels, emitter);
    } else if (!graph.node(id).info().is_source) {
      (void)ir::InferNode(graph, id, emitter);  // only reports its errors
    }
  }
  return ok;
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

// Inlines the selected branches. Their nodes, once prepared, may select further branches; the nesting of
// bodies limits the number of rounds.
bool InlineSelectedBranches(PreparedGraph& prepared, const PlanOptions& options, Emitter& emitter) {
  ir::Graph& graph = *prepared.graph;
  if (*options.transform == nullptr) return true;
  while (const std::optional<ir::NodeId> selected = FindSelectedBranch(graph)) {
    if (!(*options.transform)({"target.InlineSelectedBranch"}, nullptr, graph, emitter)) return false;
    graph.EraseDeadNodes();
    const std::optional<std::vector<ir::NodeId>> order = graph.TopologicalOrder();
    NNEFC_CHECK(order.has_value());
    if (!PrepareNodes(prepared, *order, *options.kernels, emitter)) return false;
    if (graph.Contains(*selected)) return true;  // the transformation is disabled
  }
  return true;
}

}  // namespace

PreparedGraph PrepareGraph(const ir::Graph& graph, const PlannedInputs& inputs, const PlanOptions& options,
                           Emitter& emitter) {
  PreparedGraph prepared{.graph = CopyForInputs(graph, inputs)};
  ir::Graph& copy = *prepared.graph;
  // The nodes of a copy follow their inputs. Constants that replace values are appended, and need no
  // preparation.
  const std::vector<ir::NodeId> copied = copy.nodes();
  PutKnownValues(copy);
  copy.EraseDeadNodes();
  std::vector<ir::NodeId> order;
  order.reserve(copied.size());
  llvm::copy_if(copied, std::back_inserter(order), [&](ir::NodeId id) { return copy.Contains(id); });
  if (!PrepareNodes(prepared, order, *options.kernels, emitter) ||
      !InlineSelectedBranches(prepared, options, emitter))
    return {};
  copy.EraseDeadNodes();
  if (!ReportFailures(prepared, emitter)) return {};
  return prepared;
}

}  // namespace nnefc::runtime::engine::plan

#include "runtime/engine/prepare_graph.h"

#include "compiler/ir/copy.h"
#include "compiler/ir/fold.h"
#include "compiler/ir/infer.h"
#include "compiler/ir/inline_body.h"
#include "runtime/engine/evaluate.h"
#include "runtime/kernels/rules.h"

namespace nnefc::runtime::engine {

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
                 Emitter& emitter);

// Inlines the body that a constant condition selects. The recursion depth is the nesting depth of bodies.
bool InlineBranch(PreparedGraph& prepared, ir::NodeId id, bool condition,
                  const kernels::KernelRegistry& kernels, Emitter& emitter) {
  ir::Graph& graph = *prepared.graph;
  const ir::Body& body = graph.node(id).bodies()[condition ? 0 : 1];
  const std::optional<std::vector<ir::NodeId>> order = body.graph->TopologicalOrder();
  NNEFC_CHECK(order.has_value());
  if (!HasAllData(*body.graph, *order, emitter)) return false;
  const size_t index = condition ? 0 : 1;
  const ir::InlinedBody made = ir::InlineBody(graph, id, index, ir::ParametersOfBranch(graph, id, index));
  const std::vector<ir::OutputPort> outputs = ir::OutputsOfBranch(graph.node(id), index, made.results);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].valid()) graph.ReplaceAllUses({id, static_cast<int32_t>(i)}, outputs[i]);
  }
  for (ir::NodeId copy : made.nodes) {
    if (!PrepareNode(prepared, copy, kernels, emitter)) return false;
  }
  return true;
}

bool PrepareNode(PreparedGraph& prepared, ir::NodeId id, const kernels::KernelRegistry& kernels,
                 Emitter& emitter) {
  ir::Graph& graph = *prepared.graph;
  const ir::Node& node = graph.node(id);
  llvm::SmallVector<int32_t, 2> unknown;
  // Types of constants and parameters are already set.
  if (!node.info().is_source && !ir::InferNode(graph, id, emitter, nullptr, &unknown)) return false;
  if (!unknown.empty()) prepared.unjudged[id] = unknown;
  if (!node.Is(ir::OpRole::kIf)) {
    FoldNode(prepared, id, kernels);
    return true;
  }
  const std::optional<TensorValue>& condition = graph.output(node.input(0)).value;
  if (!condition || condition->volume() != 1) return true;
  return InlineBranch(prepared, id, condition->ElementAsInt(0) != 0, kernels, emitter);
}

}  // namespace

PreparedGraph PrepareGraph(const ir::Graph& graph, const PlannedInputs& inputs,
                           const kernels::KernelRegistry& kernels, Emitter& emitter) {
  if (!graph.TopologicalOrder()) {
    emitter.Emit(kernels::kRuntimeCycle, {}, "the graph has a cycle");
    return {};
  }
  PreparedGraph prepared{.graph = CopyForInputs(graph, inputs)};
  ir::Graph& copy = *prepared.graph;
  PutKnownValues(copy);
  copy.EraseDeadNodes();
  const std::optional<std::vector<ir::NodeId>> order = copy.TopologicalOrder();
  NNEFC_CHECK(order.has_value());
  if (!HasAllData(copy, *order, emitter)) return {};
  bool ok = true;
  for (ir::NodeId id : *order) {
    if (ok) {
      ok = PrepareNode(prepared, id, kernels, emitter);
    } else if (!copy.node(id).info().is_source) {
      (void)ir::InferNode(copy, id, emitter);  // only reports its errors
    }
  }
  if (!ok) return {};
  copy.EraseDeadNodes();
  if (!ReportFailures(prepared, emitter)) return {};
  return prepared;
}

}  // namespace nnefc::runtime::engine

#include "runtime/engine/prepare_graph.h"

#include "compiler/ir/infer.h"
#include "llvm/ADT/DenseMap.h"
#include "runtime/engine/evaluate.h"
#include "runtime/engine/rules.h"

namespace nnefc::runtime {

namespace {

// Evaluating a node of constants must not turn a small file into a large
// plan: results may be this many bytes, or twice their inputs.
constexpr size_t kLargestFoldedValue = size_t{4} << 20;

class GraphCopier {
 public:
  GraphCopier(const ir::Graph& source, const std::vector<Shape>& input_shapes, Emitter& emitter)
      : source_(source),
        input_shapes_(input_shapes),
        emitter_(emitter),
        copy_(std::make_unique<ir::Graph>(&source.registry(), source.name())) {}

  std::unique_ptr<ir::Graph> Copy() {
    const std::optional<std::vector<ir::NodeId>> order = source_.TopologicalOrder();
    if (!order) {
      emitter_.Emit(kRuntimeCycle, {}, "the graph has a cycle");
      return nullptr;
    }
    NNEFC_CHECK(input_shapes_.size() == source_.parameters().size());
    for (size_t i = 0; i < input_shapes_.size(); ++i)
      CopyParameter(source_.node(source_.parameters()[i]), input_shapes_[i]);
    if (!HasAllData(*order)) return nullptr;
    for (ir::NodeId id : *order) CopyNode(source_.node(id));
    for (ir::NodeId id : source_.results()) {
      const ir::Node& node = source_.node(id);
      copy_->AddResult(node.name(), Mapped(node.input(0)), node.origin());
    }
    return std::move(copy_);
  }

 private:
  ir::OutputPort Mapped(ir::OutputPort port) const { return {nodes_.lookup(port.node), port.index}; }

  void CopyParameter(const ir::Node& node, const Shape& shape) {
    const ir::PartialShape known{llvm::ArrayRef<int64_t>(shape)};
    const ir::NodeId id = copy_->AddParameter(node.name(), node.output().type, known, node.origin());
    copy_->SetOutputType({id, 0}, node.output().type, known);
    nodes_[node.id()] = id;
  }

  bool HasAllData(llvm::ArrayRef<ir::NodeId> order) {
    bool ok = true;
    for (ir::NodeId id : order) {
      const ir::Node& node = source_.node(id);
      if (!node.Is("opset1", "Const") || node.output().value) continue;
      emitter_.Emit(kConstantWithoutData, node.origin().range, "the constant `{}` has no data", node.name());
      ok = false;
    }
    return ok;
  }

  void CopyNode(const ir::Node& node) {
    if (node.Is("opset1", "Parameter") || node.Is("opset1", "Result")) return;
    if (node.Is("opset1", "Const")) {
      nodes_[node.id()] = copy_->AddConst(node.output().value->Aligned(8), node.name(), node.origin());
      return;
    }
    llvm::SmallVector<ir::OutputPort, 4> inputs;
    for (ir::OutputPort port : node.inputs()) inputs.push_back(Mapped(port));
    nodes_[node.id()] = copy_->AddNode({.op = node.op(),
                                        .name = node.name(),
                                        .inputs = inputs,
                                        .segments = node.segments(),
                                        .attributes = node.attributes(),
                                        .num_outputs = node.num_outputs(),
                                        .origin = node.origin()});
  }

  const ir::Graph& source_;
  const std::vector<Shape>& input_shapes_;
  Emitter& emitter_;
  std::unique_ptr<ir::Graph> copy_;
  llvm::DenseMap<ir::NodeId, ir::NodeId> nodes_;
};

// The values of all inputs, if they are known and the outputs are not too
// large to keep.
std::optional<std::vector<TensorValue>> ConstantInputs(const ir::Graph& graph, const ir::Node& node) {
  std::vector<TensorValue> values;
  size_t bytes = 0;
  for (ir::OutputPort port : node.inputs()) {
    const ir::Output& output = graph.output(port);
    if (!output.value) return std::nullopt;
    values.push_back(*output.value);
    bytes += output.value->byte_size();
  }
  size_t result_bytes = 0;
  for (const ir::Output& output : node.outputs()) {
    const std::optional<int64_t> volume = output.shape.volume();
    const std::optional<size_t> size = volume ? ByteSize(output.type, *volume) : std::nullopt;
    if (!size) return std::nullopt;
    result_bytes += *size;
  }
  if (result_bytes > std::max(kLargestFoldedValue, 2 * bytes)) return std::nullopt;
  return values;
}

bool IsFoldable(const ir::Node& node) {
  const ir::OpInfo& info = node.info();
  return !info.is_source && !info.is_sink && node.num_outputs() > 0 && node.bodies().empty() &&
         node.type() != "ReadValue";
}

// Replaces the outputs of a node whose values follow from constants.
bool FoldNode(ir::Graph& graph, ir::NodeId id, const KernelRegistry& kernels, Emitter& emitter) {
  const ir::Node& node = graph.node(id);
  if (!IsFoldable(node)) return true;
  std::vector<std::optional<TensorValue>> values;
  for (const ir::Output& output : node.outputs()) values.push_back(output.value);
  const bool inferred = llvm::all_of(values, [](const auto& value) { return value.has_value(); });
  if (!inferred && node.num_inputs() > 0 &&
      kernels.Find(Backend::kReference, node.set(), node.type()) != nullptr) {
    if (const auto inputs = ConstantInputs(graph, node)) {
      ErrorOr<std::vector<TensorValue>> outputs = EvaluateNode(node, *inputs, kernels);
      if (!outputs) {
        emitter.Emit(kConstantEvaluation, node.origin().range, "`{}` ({}): {}", node.name(), node.type(),
                     outputs.error().message);
        return false;
      }
      values.assign(outputs->begin(), outputs->end());
    }
  }
  for (int32_t i = 0; i < node.num_outputs(); ++i) {
    if (!values[static_cast<size_t>(i)]) continue;
    const ir::NodeId constant = graph.AddConst(*values[static_cast<size_t>(i)], node.name(), node.origin());
    graph.ReplaceAllUses({id, i}, {constant, 0});
  }
  return true;
}

}  // namespace

std::unique_ptr<ir::Graph> PrepareGraph(const ir::Graph& graph, const std::vector<Shape>& input_shapes,
                                        const KernelRegistry& kernels, Emitter& emitter) {
  std::unique_ptr<ir::Graph> copy = GraphCopier(graph, input_shapes, emitter).Copy();
  if (copy == nullptr) return nullptr;
  const std::optional<std::vector<ir::NodeId>> order = copy->TopologicalOrder();
  NNEFC_CHECK(order.has_value());
  bool ok = true;
  for (ir::NodeId id : *order) {
    // Types of constants and parameters are set.
    if (!copy->node(id).info().is_source && !ir::InferNode(*copy, id, emitter)) {
      ok = false;
      continue;
    }
    if (ok) ok = FoldNode(*copy, id, kernels, emitter);
  }
  if (!ok) return nullptr;
  copy->EraseDeadNodes();
  return copy;
}

}  // namespace nnefc::runtime

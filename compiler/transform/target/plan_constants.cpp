// Constants of a plan: values that follow from constants and from the shapes of the plan.

#include "compiler/ir/algorithms/infer.h"
#include "compiler/transform/pipeline/standard.h"
#include "llvm/ADT/DenseSet.h"

namespace nnefc::transform::target {

namespace {

// Counts elements, to fold weights in a narrower type of the file too; a plan has them in memory anyway.
constexpr ir::FoldBound kFoldBound = {.bytes = size_t{4} << 20, .times_inputs = 2, .counts_elements = true};

// An evaluation of the constant nodes of a graph. Consumers are inferred when it reaches them, so nodes are
// not marked for inference.
class ConstantEvaluation {
 public:
  explicit ConstantEvaluation(Graph& graph) : graph_(graph), raw_(graph.Raw()) {}

  void Run() {
    ReplaceKnownValues();
    bool is_valid = true;
    for (ir::NodeId id : graph_.Order()) {
      is_valid = Infer(id) && is_valid;
      if (is_valid) Evaluate(id);
    }
    graph_.CleanUp();
  }

 private:
  // Replaces the values that are known before any inference, so that the nodes that compute them need not be
  // valid.
  void ReplaceKnownValues() {
    for (ir::NodeId id : raw_.nodes()) {
      const ir::Node& node = raw_.node(id);
      if (!ir::IsFoldable(node) && !node.Is(ir::OpRole::kParameter)) continue;
      for (int32_t i = 0; i < node.num_outputs(); ++i) {
        if (const std::optional<TensorValue>& value = node.output(i).value) Replace(node, i, *value);
      }
    }
    graph_.CleanUp();
  }

  bool Infer(ir::NodeId id) {
    if (raw_.node(id).info().is_source) return true;  // the type is set
    if (graph_.plan() != nullptr && graph_.plan()->infer != nullptr) return graph_.plan()->infer(id);
    if (!readers_.contains(id)) return true;
    Emitter unused;  // the plan reports errors
    if (!ir::InferNode(raw_, id, unused)) return false;
    const ir::Node& node = raw_.node(id);
    for (int32_t i = 0; i < node.num_outputs(); ++i) AddReaders(node, i);
    return true;
  }

  // Replaces the outputs of a node by their values if they are known or follow from constants.
  void Evaluate(ir::NodeId id) {
    const ir::Node& node = raw_.node(id);
    if (!ir::IsFoldable(node)) return;
    std::vector<std::optional<TensorValue>> values;
    bool are_known = true;
    for (const ir::Output& output : node.outputs()) {
      values.emplace_back(output.value);
      are_known &= values.back().has_value();
    }
    if (!are_known) {
      if (const auto computed = graph_.Evaluate(Node(graph_, id), kFoldBound))
        values.assign(computed->begin(), computed->end());
    }
    for (int32_t i = 0; i < node.num_outputs(); ++i) {
      if (const auto& value = values[static_cast<size_t>(i)]) Replace(node, i, *value);
    }
  }

  void Replace(const ir::Node& node, int32_t output, const TensorValue& value) {
    if (node.uses(output).empty()) return;
    AddReaders(node, output);
    const ir::NodeId constant = ir::AddConst(raw_, value, node.name(), node.origin());
    raw_.ReplaceAllUses(node.port(output), {constant, 0});
  }

  void AddReaders(const ir::Node& node, int32_t output) {
    for (ir::InputPort use : node.uses(output)) readers_.insert(use.node);
  }

  Graph& graph_;
  ir::Graph& raw_;
  llvm::DenseSet<ir::NodeId> readers_;  // nodes with inputs that became better known
};

}  // namespace

class EvaluateConstants : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "Values that follow from constants and from the shapes of a plan become constants, weights in a "
           "narrower type included. A value of more than 4 MiB must not have more than twice as many "
           "elements "
           "as its inputs.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[2,3]} : f32[2,3]
%1 = opset3.ShapeOf "s" (%0) {output_type = i64} : i64[2]
%2 = opset1.Const "v" : f16[] = dense<f16[]: 0.5>
%3 = opset1.Convert "w" (%2) {destination_type = f32} : f32[]
%4 = opset3.Broadcast "b" (%3, %1) {mode = "numpy"} : f32[2,3]
%5 = opset1.Multiply "m" (%0, %4) : f32[2,3]
opset1.Result "y" (%5)
)";
  }
  Names RunBefore() const override { return {"target.InlineSelectedBranch", "TargetFinish"}; }
  void FindAndReplacePattern(Graph& graph) override { ConstantEvaluation(graph).Run(); }
};

void RegisterPlanConstants(TransformationList& list) {
  list.Add<target::EvaluateConstants>();
}

}  // namespace nnefc::transform::target

// Marks on the nodes of a plan that compute with 8-bit quantized values.

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/target/quantizations.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::target {

namespace {

using ir::ops::LinearQuantization;
using ir::ops::LinearQuantizationOf;

// Returns true for a convolution, but not for a transposed one.
bool IsConvolution(const ir::Node& node) {
  return node.Is(ir::Contraction::kConvolution) || node.Is(ir::Contraction::kGroupConvolution);
}

// A search for the quantized results of a graph: all candidates at first. Those that no consumer accepts and
// that are not computed from quantized values are removed until nothing changes.
class QuantizedRegions {
 public:
  explicit QuantizedRegions(Graph& graph) : graph_(graph.ir()), plan_(graph.plan()) {}

  void Find() {
    for (ir::NodeId id : graph_.nodes()) {
      if (LinearQuantizationOf(graph_, graph_.node(id))) results_.insert(id);
    }
    for (bool changed = true; changed;) {
      const std::vector<ir::NodeId> given(results_.begin(), results_.end());
      for (ir::NodeId id : given) {
        if (!IsAcceptedByAny(id) && !IsComputedFromQuantized(graph_.node(id))) results_.erase(id);
      }
      changed = results_.size() != given.size();
    }
    // One reader is sufficient for a result; the other readers accept it as well.
    for (ir::NodeId id : graph_.nodes()) {
      const ir::Node& node = graph_.node(id);
      if (HasFilter(node) && IsQuantized(node.input(0))) HasQuantizedFilter(node);
    }
  }

  // Marks the nodes found. The graph is that of the search.
  void Mark(ir::Graph& graph) const {
    for (ir::NodeId id : results_) ir::ops::MarkQuantizedResult(graph, id);
    for (const auto& [id, filter] : filters_) {
      if (!filter.scales.empty()) ir::ops::MarkQuantizedFilter(graph, id, filter);
    }
  }

 private:
  const TensorValue* ConstantOf(ir::OutputPort port) const {
    const ir::Node& node = graph_.node(port.node);
    return node.Is(ir::OpRole::kConst) && node.output().value ? &*node.output().value : nullptr;
  }

  // Returns whether a consumer of output 0 accepts quantized values.
  bool IsAcceptedByAny(ir::NodeId id) {
    return llvm::any_of(graph_.node(id).uses(0), [&](const ir::InputPort& use) { return IsAccepted(use); });
  }

  // Returns whether a consumer accepts quantized values at this input.
  bool IsAccepted(const ir::InputPort& use) {
    const ir::Node& node = graph_.node(use.node);
    if (node.Is(ir::OpRole::kView)) return use.index == 0 && IsAcceptedByAny(node.id());
    if (results_.contains(node.id())) return use.index == 0;
    if (IsConvolution(node) || node.Is(ir::Contraction::kMatMul))
      return use.index == 0 && HasQuantizedFilter(node);
    if (node.Is(ir::Pooling::kMax))
      return (node.num_outputs() < 2 || node.uses(1).empty()) && IsAcceptedByAny(node.id());
    if (ir::ops::SplitsImages(graph_, node)) return use.index == 0 && AreAnyPartsAccepted(node);
    if (node.Is(ir::ElementFunction::kAdd)) return IsQuantizedSum(node);
    if (node.Is(ir::ElementFunction::kSubtract))
      return use.index == 0 && ir::ops::SubtractsZeroPoints(graph_, node) && IsAcceptedByAny(node.id());
    if (node.Is(ir::ElementFunction::kConvert)) return ir::ops::IsTableLookup(graph_, node);
    return node.Is(ir::Rearrangement::kConcat) && JoinsQuantized(node) && IsAcceptedByAny(node.id());
  }

  // Returns whether a consumer of any output accepts quantized values.
  bool AreAnyPartsAccepted(const ir::Node& split) {
    for (int32_t i = 0; i < split.num_outputs(); ++i) {
      if (llvm::any_of(split.uses(i), [&](const ir::InputPort& use) { return IsAccepted(use); })) return true;
    }
    return false;
  }

  // Returns the quantization of an image that only MaxPool and Split move since, or nothing.
  std::optional<LinearQuantization> QuantizationOfImage(ir::OutputPort port) const {
    constexpr int kMaxSteps = 16;
    for (int step = 0; step < kMaxSteps; ++step) {
      const ir::Node& node = graph_.node(port.node);
      if (results_.contains(node.id())) return LinearQuantizationOf(graph_, node);
      const bool is_pooled = port.index == 0 && node.Is(ir::Pooling::kMax);
      if (!is_pooled && !ir::ops::SplitsImages(graph_, node)) return std::nullopt;
      port = node.input(0);
    }
    return std::nullopt;
  }

  // Returns whether a Concat joins images with equal quantization.
  bool JoinsQuantized(const ir::Node& concat) const {
    if (!ir::ops::JoinsImages(graph_, concat)) return false;
    const std::optional<LinearQuantization> first = QuantizationOfImage(concat.input(0));
    return first && llvm::all_of(concat.inputs(), [&](ir::OutputPort part) {
             const std::optional<LinearQuantization> other = QuantizationOfImage(part);
             return other && other->scale == first->scale && other->zero == first->zero;
           });
  }

  // Returns whether a node has a filter, its second input: a convolution, or a matmul whose right operand is
  // a single matrix.
  bool HasFilter(const ir::Node& node) const {
    if (!node.Is(ir::Contraction::kMatMul)) return IsConvolution(node);
    const ir::PartialShape& left = graph_.output(node.input(0)).shape;
    const ir::PartialShape& right = graph_.output(node.input(1)).shape;
    return left.rank_known() && left.rank() >= 2 && right.rank_known() && right.rank() == 2 &&
           !node.Bool("transpose_a");
  }

  // Returns whether the filter is a constant with int8 scales; records them in `filters_`.
  bool HasQuantizedFilter(const ir::Node& node) {
    const auto [known, is_new] = filters_.try_emplace(node.id());
    const TensorValue* filter = ConstantOf(node.input(1));
    if (is_new && filter != nullptr && HasFilter(node) && plan_ != nullptr &&
        plan_->quantize_filter != nullptr)
      known->second = plan_->quantize_filter(node, *filter);
    return !known->second.scales.empty();
  }

  // Returns whether an Add of two quantized tensors of equal shapes is followed, after an optional ReLU, by a
  // quantization as its only consumer.
  bool IsQuantizedSum(const ir::Node& sum) const {
    const auto extents = sum.output().shape.extents();
    for (ir::OutputPort port : sum.inputs()) {
      if (!extents || graph_.output(port).shape.extents() != extents || !IsQuantized(port)) return false;
    }
    const ir::Node* last = &sum;
    if (last->uses(0).size() == 1 && graph_.node(last->uses(0)[0].node).Is(ir::ElementFunction::kRelu))
      last = &graph_.node(last->uses(0)[0].node);
    return last->uses(0).size() == 1 && last->uses(0)[0].index == 0 &&
           results_.contains(last->uses(0)[0].node);
  }

  // Returns whether the quantization can be fused into the convolution, matmul or sum of quantized values
  // before it; only ReLU and additions of constants may be between them.
  bool IsComputedFromQuantized(const ir::Node& quantize) {
    constexpr int kMaxSteps = 8;
    ir::OutputPort port = quantize.input(0);
    for (int step = 0; step < kMaxSteps; ++step) {
      const ir::Node& node = graph_.node(port.node);
      if (node.uses(port.index).size() != 1) return false;
      if (HasFilter(node)) return IsQuantized(node.input(0)) && HasQuantizedFilter(node);
      const bool is_sum = node.Is(ir::ElementFunction::kAdd);
      if (is_sum && ConstantOf(node.input(1)) == nullptr) return IsQuantizedSum(node);
      if (!is_sum && !node.Is(ir::ElementFunction::kRelu)) return false;
      port = node.input(0);
    }
    return false;
  }

  // Returns whether a value is quantized: a candidate, or a view, MaxPool, Split or Concat of such values, or
  // their distance from zero points.
  bool IsQuantized(ir::OutputPort port) const {
    const ir::Node& node = graph_.node(port.node);
    if (port.index == 0 && node.Is(ir::Pooling::kMax)) return IsQuantized(node.input(0));
    if (node.Is(ir::Rearrangement::kConcat)) return JoinsQuantized(node);
    if (ir::ops::SplitsImages(graph_, node)) return IsQuantized(node.input(0));
    if (node.Is(ir::ElementFunction::kSubtract))
      return ir::ops::SubtractsZeroPoints(graph_, node) && IsQuantized(node.input(0));
    if (node.Is(ir::OpRole::kView)) {
      const ir::Node& source = ir::ops::SkipViews(graph_, node);
      return !source.Is(ir::Rearrangement::kConcat) && ir::ops::AreRowMajor(graph_, source) &&
             IsQuantized(node.input(0));
    }
    return results_.contains(port.node);
  }

  const ir::Graph& graph_;
  const ir::PlanFunctions* plan_;
  llvm::DenseSet<ir::NodeId> results_;                          // nodes with quantized results
  llvm::DenseMap<ir::NodeId, ir::FilterQuantization> filters_;  // empty scales: not quantizable
};

}  // namespace

class MarkQuantizedValues : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "Results of 8-bit quantizations are marked if a consumer computes with quantized values, or if "
           "they are computed from such values; so are the constant filters with int8 scales that it uses. "
           "Kernels store and compute marked values as integers.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,4]} : f32[1,4]
%1 = opset1.Const "low" : f32[] = dense<f32[]: 0.0>
%2 = opset1.Const "high" : f32[] = dense<f32[]: 255.0>
%3 = opset1.FakeQuantize "p" (%0, %1, %2, %1, %2) {levels = 256} : f32[1,4]
%4 = opset1.Tanh "t" (%0) : f32[1,4]
%5 = opset1.FakeQuantize "q" (%4, %1, %2, %1, %2) {levels = 256} : f32[1,4]
%6 = opset1.Add "s" (%3, %5) : f32[1,4]
%7 = opset1.FakeQuantize "r" (%6, %1, %2, %1, %2) {levels = 256} : f32[1,4]
opset1.Result "y" (%7)
)";
  }
  Names RunAfter() const override {
    return {"target.FuseChannelPermutations", "target.QuantizeChannelsEqually", "target.RoundZeroPoints",
            "target.RemoveQuantizationAfterMoves", "TargetStart"};
  }
  void FindAndReplacePattern(Graph& graph) override {
    QuantizedRegions regions(graph);
    regions.Find();
    regions.Mark(graph.Raw());
  }
};

void RegisterQuantizedValues(TransformationList& list) {
  list.Add<target::MarkQuantizedValues>();
}

}  // namespace nnefc::transform::target

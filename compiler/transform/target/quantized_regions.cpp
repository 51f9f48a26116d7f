#include "compiler/transform/target/quantized_regions.h"

#include "compiler/transform/target/quantizations.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::target {

using ir::ops::LinearQuantization;
using ir::ops::LinearQuantizationOf;

namespace {

// Returns whether a node copies pixels of quantized images, and may add zeros.
bool CopiesPixels(const ir::Graph& graph, const ir::Node& node) {
  return ir::ops::ExtendsChannels(graph, node) || ir::ops::RepeatsPixels(graph, node);
}

// The number of operations that carry a quantized value from its result to a reader.
constexpr int kMaxMoves = 16;

// Returns true for a convolution, or a transposed one without groups whose attributes are its padding.
bool IsConvolution(const ir::Node& node) {
  return node.Is(ir::Contraction::kConvolution) || node.Is(ir::Contraction::kGroupConvolution) ||
         (node.Is(ir::Contraction::kConvolutionBackpropData) && node.num_inputs() == 2);
}

}  // namespace

void QuantizedRegions::Find() {
  for (ir::NodeId id : graph_.nodes()) {
    if (LinearQuantizationOf(graph_, graph_.node(id))) results_.insert(id);
  }
  Settle();
  // One reader is sufficient for a result; the other readers accept it as well.
  for (ir::NodeId id : graph_.nodes()) {
    const ir::Node& node = graph_.node(id);
    if (HasFilter(node) && IsQuantized(node.input(0))) HasQuantizedFilter(node);
  }
}

void QuantizedRegions::Restrict(const llvm::DenseSet<ir::NodeId>& kept) {
  const std::vector<ir::NodeId> given(results_.begin(), results_.end());
  for (ir::NodeId id : given) {
    if (!kept.contains(id)) results_.erase(id);
  }
  Settle();
}

void QuantizedRegions::Settle() {
  for (bool changed = true; changed;) {
    const std::vector<ir::NodeId> given(results_.begin(), results_.end());
    for (ir::NodeId id : given) {
      if (!IsAcceptedByAny(id) && ProducerOf(graph_.node(id)) == nullptr) results_.erase(id);
    }
    changed = results_.size() != given.size();
  }
}

const TensorValue* QuantizedRegions::ConstantOf(ir::OutputPort port) const {
  const ir::Node& node = graph_.node(port.node);
  return node.Is(ir::OpRole::kConst) && node.output().value ? &*node.output().value : nullptr;
}

// Returns whether a consumer of output 0 accepts quantized values.
bool QuantizedRegions::IsAcceptedByAny(ir::NodeId id) {
  return llvm::any_of(graph_.node(id).uses(0), [&](const ir::InputPort& use) { return IsAccepted(use); });
}

// Returns whether a consumer accepts quantized values at this input.
bool QuantizedRegions::IsAccepted(const ir::InputPort& use) {
  const ir::Node& node = graph_.node(use.node);
  if (node.Is(ir::OpRole::kView)) return use.index == 0 && IsAcceptedByAny(node.id());
  if (results_.contains(node.id())) return use.index == 0;
  if (ir::ops::MultipliesQuantizedTensors(node)) return true;
  if (IsConvolution(node) || node.Is(ir::Contraction::kMatMul))
    return use.index == 0 && (HasQuantizedFilter(node) || HasMixedFilter(node));
  if (node.Is(ir::Pooling::kMax))
    return (node.num_outputs() < 2 || node.uses(1).empty()) && IsAcceptedByAny(node.id());
  if (ir::ops::SplitsImages(graph_, node)) return use.index == 0 && AreAnyPartsAccepted(node);
  if (CopiesPixels(graph_, node)) return use.index == 0 && IsAcceptedByAny(node.id());
  if (node.Is(ir::ElementFunction::kAdd)) return QuantizationOfSum(node) != nullptr;
  if (node.Is(ir::ElementFunction::kSubtract))
    return use.index == 0 && ir::ops::SubtractsZeroPoints(graph_, node) && IsAcceptedByAny(node.id());
  if (node.Is(ir::ElementFunction::kConvert)) return ir::ops::IsTableLookup(graph_, node);
  if (QuantizationOfConcat(node) != nullptr) return true;
  return node.Is(ir::Rearrangement::kConcat) && JoinsQuantized(node) && IsAcceptedByAny(node.id());
}

// Returns whether a consumer of any output accepts quantized values.
bool QuantizedRegions::AreAnyPartsAccepted(const ir::Node& split) {
  for (int32_t i = 0; i < split.num_outputs(); ++i) {
    if (llvm::any_of(split.uses(i), [&](const ir::InputPort& use) { return IsAccepted(use); })) return true;
  }
  return false;
}

// Returns the quantization of an image; see ir::ops::SourceOfImage.
std::optional<LinearQuantization> QuantizedRegions::QuantizationOfImage(ir::OutputPort port) const {
  const std::optional<ir::NodeId> source = ir::ops::SourceOfImage(
      graph_, port, [&](const ir::Node& node) { return results_.contains(node.id()); });
  return source ? LinearQuantizationOf(graph_, graph_.node(*source)) : std::nullopt;
}

bool QuantizedRegions::JoinsQuantized(const ir::Node& concat) const {
  if (!ir::ops::JoinsImages(graph_, concat)) return false;
  const std::optional<LinearQuantization> first = QuantizationOfImage(concat.input(0));
  return first && llvm::all_of(concat.inputs(), [&](ir::OutputPort part) {
           const std::optional<LinearQuantization> other = QuantizationOfImage(part);
           return other && other->scale == first->scale && other->zero == first->zero;
         });
}

bool QuantizedRegions::HasFilter(const ir::Node& node) const {
  if (!node.Is(ir::Contraction::kMatMul)) return IsConvolution(node);
  const ir::PartialShape& left = graph_.output(node.input(0)).shape;
  const ir::PartialShape& right = graph_.output(node.input(1)).shape;
  return left.rank_known() && left.rank() >= 2 && right.rank_known() && right.rank() == 2 &&
         !node.Bool("transpose_a");
}

bool QuantizedRegions::HasQuantizedFilter(const ir::Node& node) {
  const auto [known, is_new] = filters_.try_emplace(node.id());
  const TensorValue* filter = ConstantOf(node.input(1));
  if (is_new && filter != nullptr && HasFilter(node) && filter_of_) known->second = filter_of_(node, *filter);
  return !known->second.scales.empty();
}

bool QuantizedRegions::HasMixedFilter(const ir::Node& node) {
  if (!node.Is(ir::Contraction::kGroupConvolution) || !filter_of_) return false;
  const TensorValue* filter = ConstantOf(node.input(1));
  return filter != nullptr && filter->type() == ElementType::kF32 && SuitsMixedStep(filter->shape()) &&
         !HasQuantizedFilter(node);
}

// Returns whether a node is a PReLU with one constant slope, or one for each channel.
bool QuantizedRegions::IsSlope(const ir::Node& node) const {
  if (!node.Is(ir::ElementFunction::kPRelu)) return false;
  const TensorValue* slopes = ConstantOf(node.input(1));
  const std::optional<Shape> shape = node.output().shape.extents();
  if (slopes == nullptr || !shape) return false;
  return slopes->volume() == 1 || (shape->size() > 2 && slopes->volume() == (*shape)[1]);
}

const ir::Node* QuantizedRegions::QuantizationOfSum(const ir::Node& sum) const {
  if (!sum.Is(ir::ElementFunction::kAdd)) return nullptr;
  const auto extents = sum.output().shape.extents();
  for (ir::OutputPort port : sum.inputs()) {
    if (!extents || graph_.output(port).shape.extents() != extents || !IsQuantized(port)) return nullptr;
  }
  const ir::Node* last = &sum;
  if (last->uses(0).size() == 1 && last->uses(0)[0].index == 0) {
    const ir::Node& next = graph_.node(last->uses(0)[0].node);
    if (next.Is(ir::ElementFunction::kRelu) || IsSlope(next)) last = &next;
  }
  if (last->uses(0).size() != 1 || last->uses(0)[0].index != 0) return nullptr;
  const ir::NodeId quantize = last->uses(0)[0].node;
  return results_.contains(quantize) ? &graph_.node(quantize) : nullptr;
}

const ir::Node* QuantizedRegions::QuantizationOfConcat(const ir::Node& concat) const {
  const llvm::SmallVector<ir::NodeId, 4> nodes = ir::ops::FunctionsOfConcat(graph_, concat);
  if (nodes.empty() || !results_.contains(nodes.back())) return nullptr;
  const bool is_quantized = llvm::all_of(
      concat.inputs(), [&](ir::OutputPort part) { return QuantizationOfImage(part).has_value(); });
  return is_quantized ? &graph_.node(nodes.back()) : nullptr;
}

const ir::Node* QuantizedRegions::ProducerOf(const ir::Node& quantize) {
  constexpr int kMaxSteps = 8;
  ir::OutputPort port = quantize.input(0);
  if (const ir::Node& slope = graph_.node(port.node); IsSlope(slope)) {  // after a sum alone
    const ir::Node& sum = graph_.node(slope.input(0).node);
    return QuantizationOfSum(sum) == &quantize ? &sum : nullptr;
  }
  for (int step = 0; step < kMaxSteps; ++step) {
    const ir::Node& node = graph_.node(port.node);
    if (node.uses(port.index).size() != 1) return nullptr;
    if (HasFilter(node)) {
      const bool is_quantized =
          IsQuantized(node.input(0)) && (HasQuantizedFilter(node) || HasMixedFilter(node));
      return is_quantized ? &node : nullptr;
    }
    const bool is_sum = node.Is(ir::ElementFunction::kAdd);
    if (is_sum && ConstantOf(node.input(1)) == nullptr)
      return QuantizationOfSum(node) != nullptr ? &node : nullptr;
    if (!is_sum && !node.Is(ir::ElementFunction::kRelu)) return nullptr;
    port = node.input(0);
  }
  return nullptr;
}

std::optional<ir::NodeId> QuantizedRegions::SourceOf(ir::OutputPort port) const {
  for (int step = 0; step < kMaxMoves; ++step) {
    if (results_.contains(port.node)) return port.node;
    const ir::Node& node = graph_.node(port.node);
    const bool carries = node.Is(ir::OpRole::kView) || (port.index == 0 && node.Is(ir::Pooling::kMax)) ||
                         ir::ops::SplitsImages(graph_, node) || ir::ops::SubtractsZeroPoints(graph_, node) ||
                         CopiesPixels(graph_, node) ||
                         (node.Is(ir::Rearrangement::kConcat) && JoinsQuantized(node));
    if (!carries) return std::nullopt;
    port = node.input(0);
  }
  return std::nullopt;
}

bool QuantizedRegions::IsQuantized(ir::OutputPort port) const {
  const ir::Node& node = graph_.node(port.node);
  if (port.index == 0 && node.Is(ir::Pooling::kMax)) return IsQuantized(node.input(0));
  if (node.Is(ir::Rearrangement::kConcat)) return JoinsQuantized(node);
  if (ir::ops::SplitsImages(graph_, node) || CopiesPixels(graph_, node)) return IsQuantized(node.input(0));
  if (node.Is(ir::ElementFunction::kSubtract))
    return ir::ops::SubtractsZeroPoints(graph_, node) && IsQuantized(node.input(0));
  if (node.Is(ir::OpRole::kView)) {
    const ir::Node& source = ir::ops::SkipViews(graph_, node);
    return !source.Is(ir::Rearrangement::kConcat) && ir::ops::AreRowMajor(graph_, source) &&
           IsQuantized(node.input(0));
  }
  return results_.contains(port.node);
}

}  // namespace nnefc::transform::target

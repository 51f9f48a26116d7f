// Finds the results of a graph that are stored as u8 quantized values, and the constant filters with int8
// scales.

#include "compiler/ir/ops/quantized_values.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "runtime/fast/factories.h"
#include "runtime/fast/int8/filter_quantization.h"
#include "runtime/fast/int8/quantization.h"
#include "runtime/fast/processor.h"
#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime::fast::int8 {

namespace {

// Returns true for a convolution, but not for a transposed one.
bool IsConvolution(const ir::Node& node) {
  return node.Is(ir::Contraction::kConvolution) || node.Is(ir::Contraction::kGroupConvolution);
}

// A search for the quantized results of a graph (`coded_`): all candidates at first. Those that no consumer
// accepts and that are not computed from quantized values are removed until nothing changes.
class QuantizedRegions {
 public:
  QuantizedRegions(const ir::Graph& graph, kernels::ConstantNumbers& numbers)
      : graph_(graph), numbers_(numbers) {}

  // Returns all quantized results with a reader that accepts them, or computed from quantized values.
  kernels::QuantizedNodes Find() {
    for (ir::NodeId id : graph_.nodes()) {
      if (QuantizationRangeOf(graph_, graph_.node(id))) coded_.insert(id);
    }
    for (bool changed = true; changed;) {
      const std::vector<ir::NodeId> given(coded_.begin(), coded_.end());
      for (ir::NodeId id : given) {
        if (!AnyTakes(id) && !IsComputedFromQuantized(graph_.node(id))) coded_.erase(id);
      }
      changed = coded_.size() != given.size();
    }
    // One reader is sufficient for a result; the other readers accept it as well.
    for (ir::NodeId id : graph_.nodes()) {
      const ir::Node& node = graph_.node(id);
      if (TakesFilter(node) && IsQuantized(node.input(0))) HasQuantizedFilter(node);
    }
    return {.results = std::move(coded_), .filters = std::move(filters_)};
  }

 private:
  const TensorValue* ConstantOf(ir::OutputPort port) const {
    const ir::Node& node = graph_.node(port.node);
    return node.Is(ir::OpRole::kConst) && node.output().value ? &*node.output().value : nullptr;
  }

  // Returns whether a consumer of output 0 accepts quantized values.
  bool AnyTakes(ir::NodeId id) {
    return llvm::any_of(graph_.node(id).uses(0), [&](const ir::InputPort& use) { return Takes(use); });
  }

  // Returns whether a consumer accepts quantized values at this input.
  bool Takes(const ir::InputPort& use) {
    const ir::Node& node = graph_.node(use.node);
    if (node.Is(ir::OpRole::kView)) return use.index == 0 && AnyTakes(node.id());
    if (coded_.contains(node.id())) return use.index == 0;
    if (IsConvolution(node) || node.Is(ir::Contraction::kMatMul))
      return use.index == 0 && HasQuantizedFilter(node);
    if (node.Is(ir::Pooling::kMax))
      return (node.num_outputs() < 2 || node.uses(1).empty()) && AnyTakes(node.id());
    if (node.Is(ir::ElementFunction::kAdd)) return TakesSum(node);
    if (node.Is(ir::ElementFunction::kConvert)) return ir::ops::IsTableLookup(graph_, node);
    return node.Is(ir::Rearrangement::kConcat) && JoinsQuantized(node) && AnyTakes(node.id());
  }

  // Returns whether a Concat joins images with equal quantization.
  bool JoinsQuantized(const ir::Node& concat) const {
    if (!ir::ops::JoinsImages(graph_, concat)) return false;
    const std::optional<QuantizationRange> first =
        QuantizationRangeOf(graph_, graph_.node(concat.input(0).node));
    return llvm::all_of(concat.inputs(), [&](ir::OutputPort part) {
      return coded_.contains(part.node) &&
             QuantizationRangeOf(graph_, graph_.node(part.node))->codes == first->codes;
    });
  }

  // Returns whether a node has a filter, its second input: a convolution, or a matmul whose right operand is
  // a single matrix.
  bool TakesFilter(const ir::Node& node) const {
    if (!node.Is(ir::Contraction::kMatMul)) return IsConvolution(node);
    const ir::PartialShape& left = graph_.output(node.input(0)).shape;
    const ir::PartialShape& right = graph_.output(node.input(1)).shape;
    return left.rank_known() && left.rank() >= 2 && right.rank_known() && right.rank() == 2 &&
           !node.Bool("transpose_a");
  }

  // Returns whether the filter is a constant with int8 scales; caches them in `filters_`.
  bool HasQuantizedFilter(const ir::Node& node) {
    const auto [known, is_new] = filters_.try_emplace(node.id());
    const TensorValue* filter = ConstantOf(node.input(1));
    if (is_new && filter != nullptr && TakesFilter(node))
      known->second = QuantizationOfConstant(node, *filter);
    return !known->second.scales.empty();
  }

  // Results for large filters are cached, because the search takes as long as packing the filter.
  kernels::FilterQuantization QuantizationOfConstant(const ir::Node& node, const TensorValue& filter) {
    constexpr size_t kLarge = size_t{16} << 10;
    const bool is_factor = node.Is(ir::Contraction::kMatMul);
    const bool is_grouped = node.Is(ir::Contraction::kGroupConvolution);
    const bool by_column = is_factor && !node.Bool("transpose_b");
    const auto find = [&] {
      return by_column ? QuantizeMatrix(filter, false) : QuantizeFilter(filter, is_grouped);
    };
    if (filter.byte_size() < kLarge || filter.rank() < 2) return find();
    const Shape& shape = filter.shape();
    const int64_t channels = by_column ? shape[1] : is_grouped ? shape[0] * shape[1] : shape[0];
    const std::string_view what = by_column    ? "codes of columns"
                                  : is_grouped ? "codes of groups"
                                               : "codes of rows";
    // The cached numbers are the scales, followed by max_magnitude.
    kernels::FilterQuantization codes;
    codes.scales = numbers_.Get(filter, what, static_cast<size_t>(channels + 1), [&] {
      kernels::FilterQuantization found = find();
      if (!found.scales.empty()) found.scales.push_back(found.max_magnitude);
      return std::move(found.scales);
    });
    if (codes.scales.empty()) return codes;
    codes.max_magnitude = codes.scales.back();
    codes.scales.pop_back();
    return codes;
  }

  // Returns whether an Add of two quantized tensors of equal shapes is followed, after an optional ReLU, by a
  // quantization as its only consumer.
  bool TakesSum(const ir::Node& sum) {
    const auto extents = sum.output().shape.extents();
    for (ir::OutputPort port : sum.inputs()) {
      if (!extents || graph_.output(port).shape.extents() != extents || !IsQuantized(port)) return false;
    }
    const ir::Node* last = &sum;
    if (last->uses(0).size() == 1 && graph_.node(last->uses(0)[0].node).Is(ir::ElementFunction::kRelu))
      last = &graph_.node(last->uses(0)[0].node);
    return last->uses(0).size() == 1 && last->uses(0)[0].index == 0 && coded_.contains(last->uses(0)[0].node);
  }

  // Returns whether the quantization can be fused into the convolution, matmul or sum of quantized values
  // before it; only ReLU and additions of constants may be between them.
  bool IsComputedFromQuantized(const ir::Node& quantize) {
    constexpr int kMaxSteps = 8;
    ir::OutputPort port = quantize.input(0);
    for (int step = 0; step < kMaxSteps; ++step) {
      const ir::Node& node = graph_.node(port.node);
      if (node.uses(port.index).size() != 1) return false;
      if (TakesFilter(node)) return IsQuantized(node.input(0)) && HasQuantizedFilter(node);
      const bool is_sum = node.Is(ir::ElementFunction::kAdd);
      if (is_sum && ConstantOf(node.input(1)) == nullptr) return TakesSum(node);
      if (!is_sum && !node.Is(ir::ElementFunction::kRelu)) return false;
      port = node.input(0);
    }
    return false;
  }

  // Returns whether a value is quantized: a candidate, or a view, MaxPool or Concat of such values.
  bool IsQuantized(ir::OutputPort port) const {
    const ir::Node& node = graph_.node(port.node);
    if (port.index == 0 && node.Is(ir::Pooling::kMax)) return IsQuantized(node.input(0));
    if (node.Is(ir::Rearrangement::kConcat)) return JoinsQuantized(node);
    if (node.Is(ir::OpRole::kView))
      return ir::ops::AreRowMajor(graph_, ir::ops::SkipViews(graph_, node)) && IsQuantized(node.input(0));
    return coded_.contains(port.node);
  }

  const ir::Graph& graph_;
  kernels::ConstantNumbers& numbers_;
  llvm::DenseSet<ir::NodeId> coded_;                                 // nodes with quantized results
  llvm::DenseMap<ir::NodeId, kernels::FilterQuantization> filters_;  // empty: not quantizable
};

}  // namespace

std::optional<tensor::Layout> ReshapeQuantized(const tensor::Layout& layout, llvm::ArrayRef<int64_t> from,
                                               llvm::ArrayRef<int64_t> to) {
  const kernels::ValueInfo value{
      .type = ElementType::kF32, .shape = Shape(from.begin(), from.end()), .layout = layout};
  const memory::ValueQuantization* codes = memory::QuantizationOf(value);
  if (codes == nullptr || memory::FormatInF32(value) != memory::RowMajorFormat(from) || to.size() > 12)
    return std::nullopt;
  return memory::QuantizedLayout(memory::RowMajorFormat(to), *codes);
}

kernels::QuantizedNodes FindQuantizedNodes(const ir::Graph& graph, kernels::ConstantNumbers& numbers) {
  if (!HasVnni() && !simd::HasSimd()) return kernels::QuantizedNodes();
  return QuantizedRegions(graph, numbers).Find();
}

}  // namespace nnefc::runtime::fast::int8

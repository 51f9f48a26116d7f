// Finds the results of a graph that stay in 8-bit form.

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "runtime/fast/families.h"
#include "runtime/fast/filter_codes.h"
#include "runtime/fast/lanes/lanes.h"
#include "runtime/fast/quantization.h"
#include "runtime/kernels/attributes.h"

namespace nnefc::runtime {

namespace {

enum class Taker : uint8_t {
  kQuantize,
  kConvolution,
  kGroupConvolution,
  kProduct,
  kMaxPool,
  kAdd,
  kRelu,
  kTable,
  kConcat,
};
using Takers = ir::OpTable<Taker>;

Takers TakersOf(const ir::OpRegistry& registry) {
  Takers takers(
      registry, ir::kNnefSet,
      {{"min_max_linear_quantize", Taker::kQuantize}, {"zero_point_linear_quantize", Taker::kQuantize}});
  takers.Add(registry, ir::kOpsets,
             {{"FakeQuantize", Taker::kQuantize},
              {"Convolution", Taker::kConvolution},
              {"GroupConvolution", Taker::kGroupConvolution},
              {"MatMul", Taker::kProduct},
              {"MaxPool", Taker::kMaxPool},
              {"Add", Taker::kAdd},
              {"ReLU", Taker::kRelu},
              {"Convert", Taker::kTable},
              {"Concat", Taker::kConcat}});
  return takers;
}

class CodeRegions {
 public:
  CodeRegions(const ir::Graph& graph, ConstantNumbers& numbers)
      : graph_(graph), numbers_(numbers), takers_(TakersOf(graph.registry())) {}

  // Returns all quantized results with a reader that accepts them, or computed from quantized values.
  CodedNodes Find() {
    for (ir::NodeId id : graph_.nodes()) {
      if (CodeRangeOf(graph_, graph_.node(id))) coded_.insert(id);
    }
    for (bool changed = true; changed;) {
      const std::vector<ir::NodeId> given(coded_.begin(), coded_.end());
      for (ir::NodeId id : given) {
        if (!AnyTakes(id) && !IsMadeOfCodes(graph_.node(id))) coded_.erase(id);
      }
      changed = coded_.size() != given.size();
    }
    // One reader is sufficient for a result; the other readers accept it as well.
    for (ir::NodeId id : graph_.nodes()) {
      const ir::Node& node = graph_.node(id);
      if (TakesFilter(node) && LiesInCodes(node.input(0))) HasCodedFilter(node);
    }
    return {.results = std::move(coded_), .filters = std::move(filters_)};
  }

 private:
  const TensorValue* ConstantOf(ir::OutputPort port) const {
    const ir::Node& node = graph_.node(port.node);
    return node.Is(ir::OpRole::kConst) && node.output().value ? &*node.output().value : nullptr;
  }

  bool Is(const ir::Node& node, Taker taker) const {
    const Taker* found = takers_.Find(node.op());
    return found != nullptr && *found == taker;
  }

  bool AnyTakes(ir::NodeId id) {
    return llvm::any_of(graph_.node(id).uses(0), [&](const ir::InputPort& use) { return Takes(use); });
  }

  bool Takes(const ir::InputPort& use) {
    const ir::Node& node = graph_.node(use.node);
    if (node.Is(ir::OpRole::kView)) return use.index == 0 && AnyTakes(node.id());
    const Taker* taker = takers_.Find(node.op());
    if (taker == nullptr) return false;
    switch (*taker) {
      case Taker::kQuantize:
        return use.index == 0 && coded_.contains(node.id());
      case Taker::kConvolution:
      case Taker::kGroupConvolution:
      case Taker::kProduct:
        return use.index == 0 && HasCodedFilter(node);
      case Taker::kMaxPool:
        return (node.num_outputs() < 2 || node.uses(1).empty()) && AnyTakes(node.id());
      case Taker::kAdd:
        return TakesSum(node);
      case Taker::kRelu:
        return false;
      case Taker::kTable:
        return IsOfCodeTable(graph_, node);
      case Taker::kConcat:
        return JoinsCodes(node) && AnyTakes(node.id());
    }
    return false;
  }

  // Returns whether a Concat joins images with equal quantization.
  bool JoinsCodes(const ir::Node& concat) const {
    if (!JoinsImages(graph_, concat)) return false;
    const std::optional<CodeRange> first = CodeRangeOf(graph_, graph_.node(concat.input(0).node));
    return llvm::all_of(concat.inputs(), [&](ir::OutputPort part) {
      return coded_.contains(part.node) && CodeRangeOf(graph_, graph_.node(part.node))->codes == first->codes;
    });
  }

  // A matmul has a filter if its right operand is a single matrix.
  bool TakesFilter(const ir::Node& node) const {
    if (!Is(node, Taker::kProduct))
      return Is(node, Taker::kConvolution) || Is(node, Taker::kGroupConvolution);
    const ir::PartialShape& left = graph_.output(node.input(0)).shape;
    const ir::PartialShape& right = graph_.output(node.input(1)).shape;
    return left.rank_known() && left.rank() >= 2 && right.rank_known() && right.rank() == 2 &&
           !node.Bool("transpose_a");
  }

  bool HasCodedFilter(const ir::Node& node) {
    const auto [known, is_new] = filters_.try_emplace(node.id());
    const TensorValue* filter = ConstantOf(node.input(1));
    if (is_new && filter != nullptr && TakesFilter(node)) known->second = CodesOfConstant(node, *filter);
    return !known->second.scales.empty();
  }

  // Results for large filters are cached, because the search takes as long as packing the filter.
  FilterCodes CodesOfConstant(const ir::Node& node, const TensorValue& filter) {
    constexpr size_t kLarge = size_t{16} << 10;
    const bool is_factor = Is(node, Taker::kProduct);
    const bool is_grouped = Is(node, Taker::kGroupConvolution);
    const bool by_column = is_factor && !node.Bool("transpose_b");
    const auto find = [&] {
      return by_column ? CodesOfFactor(filter, false) : CodesOfFilter(filter, is_grouped);
    };
    if (filter.byte_size() < kLarge || filter.rank() < 2) return find();
    const Shape& shape = filter.shape();
    const int64_t channels = by_column ? shape[1] : is_grouped ? shape[0] * shape[1] : shape[0];
    const std::string_view what = by_column    ? "codes of columns"
                                  : is_grouped ? "codes of groups"
                                               : "codes of rows";
    // Scales, then the magnitude.
    FilterCodes codes;
    codes.scales = numbers_.Get(filter, what, static_cast<size_t>(channels + 1), [&] {
      FilterCodes found = find();
      if (!found.scales.empty()) found.scales.push_back(found.most_magnitude);
      return std::move(found.scales);
    });
    if (codes.scales.empty()) return codes;
    codes.most_magnitude = codes.scales.back();
    codes.scales.pop_back();
    return codes;
  }

  // Returns whether a sum of two quantized tensors leads to a quantization.
  bool TakesSum(const ir::Node& sum) {
    const auto extents = sum.output().shape.extents();
    for (ir::OutputPort port : sum.inputs()) {
      if (!extents || graph_.output(port).shape.extents() != extents || !LiesInCodes(port)) return false;
    }
    const ir::Node* last = &sum;
    if (last->uses(0).size() == 1 && Is(graph_.node(last->uses(0)[0].node), Taker::kRelu))
      last = &graph_.node(last->uses(0)[0].node);
    return last->uses(0).size() == 1 && last->uses(0)[0].index == 0 && coded_.contains(last->uses(0)[0].node);
  }

  // Returns whether the quantization follows a convolution, matmul or sum of quantized values in the same
  // step.
  bool IsMadeOfCodes(const ir::Node& quantize) {
    constexpr int kMostSteps = 8;
    ir::OutputPort port = quantize.input(0);
    for (int step = 0; step < kMostSteps; ++step) {
      const ir::Node& node = graph_.node(port.node);
      const Taker* taker = takers_.Find(node.op());
      if (taker == nullptr || node.uses(port.index).size() != 1) return false;
      if (TakesFilter(node)) return LiesInCodes(node.input(0)) && HasCodedFilter(node);
      const bool adds_constant = *taker == Taker::kAdd && ConstantOf(node.input(1)) != nullptr;
      if (*taker == Taker::kAdd && !adds_constant) return TakesSum(node);
      if (*taker != Taker::kRelu && !adds_constant) return false;
      port = node.input(0);
    }
    return false;
  }

  bool LiesInCodes(ir::OutputPort port) const {
    const ir::Node& node = graph_.node(port.node);
    if (port.index == 0 && Is(node, Taker::kMaxPool)) return LiesInCodes(node.input(0));
    if (Is(node, Taker::kConcat)) return JoinsCodes(node);
    if (node.Is(ir::OpRole::kView))
      return LieInRows(graph_, SeenNode(graph_, node)) && LiesInCodes(node.input(0));
    return coded_.contains(port.node);
  }

  const ir::Graph& graph_;
  ConstantNumbers& numbers_;
  const Takers takers_;
  llvm::DenseSet<ir::NodeId> coded_;
  llvm::DenseMap<ir::NodeId, FilterCodes> filters_;  // empty: not quantizable
};

}  // namespace

const ir::Node& SeenNode(const ir::Graph& graph, const ir::Node& node) {
  const ir::Node* seen = &node;
  while (seen->Is(ir::OpRole::kView)) seen = &graph.node(seen->input(0).node);
  return *seen;
}

// Determined by the producer: a convolution or pooling.
bool LieInRows(const ir::Graph& graph, const ir::Node& quantize) {
  static const ir::OpTable<bool> kOfImages(
      ir::StandardOps(), ir::kOpsets, {{"Convolution", true}, {"GroupConvolution", true}, {"MaxPool", true}});
  constexpr int kMostSteps = 16;
  const ir::Node* node = &quantize;
  for (int step = 0; step < kMostSteps && node->num_inputs() > 0; ++step) {
    if (kOfImages.Find(node->op()) != nullptr) return false;
    const size_t data = node->num_inputs() > 1 && IsOfCodeTable(graph, graph.node(node->input(1).node));
    if (node->Is(ir::OpRole::kComputation) && node->info().products != nullptr) return true;
    node = &graph.node(node->input(static_cast<int32_t>(data)).node);
  }
  return true;
}

bool JoinsImages(const ir::Graph& graph, const ir::Node& concat) {
  const ir::PartialShape& shape = concat.output().shape;
  constexpr int64_t kLeastRank = 3, kMostRank = 5;
  if (!shape.rank_known() || shape.rank() < kLeastRank || shape.rank() > kMostRank) return false;
  return NormalAxis(concat.Int("axis"), shape.rank()) == 1 &&
         llvm::none_of(concat.inputs(),
                       [&](ir::OutputPort part) { return LieInRows(graph, graph.node(part.node)); });
}

std::optional<Layout> ReshapeCodes(const Layout& layout, llvm::ArrayRef<int64_t> from,
                                   llvm::ArrayRef<int64_t> to) {
  const ValueInfo value{
      .type = ElementType::kF32, .shape = Shape(from.begin(), from.end()), .layout = layout};
  const DnnCodes* codes = CodesOf(value);
  if (codes == nullptr || DescInF32(value) != PlainDesc(from) || to.size() > 12) return std::nullopt;
  return LayoutOfCodes(PlainDesc(to), *codes);
}

CodedNodes FindCodes(const ir::Graph& graph, ConstantNumbers& numbers) {
  if (!HasVnni() && !HasLanes()) return CodedNodes();
  return CodeRegions(graph, numbers).Find();
}

}  // namespace nnefc::runtime

#include "compiler/transform/target/region_costs.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/transform/target/min_cut.h"
#include "compiler/transform/target/quantizations.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::target {

namespace {

// The choice for each group of results as a minimum cut: items on the first side are quantized.
class RegionCosts {
 public:
  RegionCosts(QuantizedRegions& regions, const ir::StepTimes& times)
      : graph_(regions.graph()), regions_(regions), times_(times), cut_(GroupResults()) {
    for (ir::NodeId id : graph_.nodes()) AddNode(graph_.node(id));
    for (ir::NodeId id : regions_.results()) AddProducer(graph_.node(id));
    for (const auto& [id, elements] : dequantized_)
      cut_.AddCosts(items_.lookup(id), elements * times_.dequantize, 0);
  }

  llvm::DenseSet<ir::NodeId> Solve() {
    const std::vector<bool> is_quantized = cut_.Solve();
    llvm::DenseSet<ir::NodeId> kept;
    for (const auto& [id, item] : items_) {
      if (is_quantized[static_cast<size_t>(item)]) kept.insert(id);
    }
    return kept;
  }

 private:
  // Numbers the results; those that a Concat joins have the same number. Returns the count.
  int32_t GroupResults() {
    llvm::EquivalenceClasses<int32_t> groups;
    for (ir::NodeId id : regions_.results()) groups.insert(id.index);
    for (ir::NodeId id : graph_.nodes()) {
      const ir::Node& node = graph_.node(id);
      if (!node.Is(ir::Rearrangement::kConcat) || !regions_.JoinsQuantized(node)) continue;
      for (ir::OutputPort part : node.inputs())
        groups.unionSets(regions_.SourceOf(node.input(0))->index, regions_.SourceOf(part)->index);
    }
    int32_t count = 0;
    for (ir::NodeId id : regions_.results()) {
      const auto [leader, is_new] = leaders_.try_emplace(groups.getLeaderValue(id.index), count);
      if (is_new) ++count;
      items_[id] = leader->second;
    }
    return count;
  }

  // Returns the item of the result that is carried to a value, or nothing.
  std::optional<int32_t> ItemOf(ir::OutputPort port) const {
    const std::optional<ir::NodeId> source = regions_.SourceOf(port);
    return source ? std::optional(items_.lookup(*source)) : std::nullopt;
  }

  double ElementsOf(ir::OutputPort port) const {
    const std::optional<Shape> shape = graph_.output(port).shape.extents();
    return shape ? static_cast<double>(Volume(*shape).value_or(0)) : 0;
  }

  bool Carries(const ir::Node& node) const {
    return !regions_.results().contains(node.id()) && node.num_outputs() > 0 &&
           regions_.SourceOf(node.port());
  }

  // Adds the costs of a node that reads quantized values.
  void AddNode(const ir::Node& node) {
    const ir::Node* joined = regions_.QuantizationOfConcat(node);
    if (joined != nullptr) joined_.insert(joined->id());
    for (int32_t i = 0; i < node.num_inputs(); ++i) {
      const std::optional<ir::NodeId> source = regions_.SourceOf(node.input(i));
      if (!source) continue;
      const int32_t item = items_.lookup(*source);
      if (i == 0 && regions_.HasFilter(node) && regions_.HasQuantizedFilter(node)) {
        AddProduct(node, item);
      } else if (i == 0 && regions_.HasMixedFilter(node)) {
        cut_.AddCosts(item, ElementsOf(node.input(i)) * times_.widen, 0);  // in its step
      } else if (ir::ops::MultipliesQuantizedTensors(node)) {
        cut_.AddCosts(item, 0, ElementsOf(node.input(i)) * times_.quantize);  // in its step
      } else if (const ir::Node* sum = regions_.QuantizationOfSum(node)) {
        AddConversions(item, items_.lookup(sum->id()), ElementsOf(node.port()), 0.5);
      } else if (joined != nullptr) {
        AddConversions(item, items_.lookup(joined->id()), ElementsOf(node.input(i)), 1);
      } else if (regions_.results().contains(node.id()) && i == 0) {
        AddConversions(item, items_.lookup(node.id()), ElementsOf(node.port()), 1);
      } else if (node.Is(ir::ElementFunction::kConvert) && ir::ops::IsTableLookup(graph_, node)) {
        cut_.AddCosts(item, 0, ElementsOf(node.port()) * times_.lookup);
      } else if (!Carries(node)) {
        double& elements = dequantized_[*source];
        elements = std::max(elements, ElementsOf(node.input(i)));
      }
    }
  }

  // Adds the cost of a convolution or matmul whose data is quantized or not.
  void AddProduct(const ir::Node& node, int32_t item) {
    const auto data = graph_.output(node.input(0)).shape.extents(),
               filter = graph_.output(node.input(1)).shape.extents(), result = node.output().shape.extents();
    if (!data || !filter || !result) return;
    cut_.AddCosts(item, times_.product(node, *data, *filter, *result, true),
                  times_.product(node, *data, *filter, *result, false));
  }

  // Adds the cost of `from`, read by a step whose result is `to`, if only one of them is quantized. Of a sum
  // each operand has half of the quantization.
  void AddConversions(int32_t from, int32_t to, double elements, double share) {
    cut_.AddSeparation(from, to, elements * times_.dequantize);
    cut_.AddSeparation(to, from, elements * times_.quantize * share);
  }

  // Returns the number of functions between a quantization and the next one.
  int FunctionsAfter(const ir::Node& quantize) const {
    constexpr int kMaxSteps = 8;
    const ir::Node* node = &quantize;
    for (int count = 0; count < kMaxSteps; ++count) {
      if (node->uses(0).size() != 1) return count;
      node = &graph_.node(node->uses(0)[0].node);
      if (node->info().function == ir::ElementFunction::kOther) return count;
    }
    return kMaxSteps;
  }

  // Adds the cost of computing a result: it is rounded in f32, or quantized after an f32 step.
  void AddProducer(const ir::Node& quantize) {
    if (regions_.SourceOf(quantize.input(0))) return;
    const int32_t item = items_.lookup(quantize.id());
    const double elements = ElementsOf(quantize.port());
    const ir::Node* product = ProductBefore(graph_, quantize);
    const bool has_filter = product != nullptr && regions_.HasFilter(*product) &&
                            (regions_.HasQuantizedFilter(*product) || regions_.HasMixedFilter(*product));
    if (const std::optional<int32_t> data = has_filter ? ItemOf(product->input(0)) : std::nullopt) {
      cut_.AddSeparation(item, *data, elements * times_.quantize);
      // After a product in 8 bits, functions of its rounded result are steps of their own, too.
      const double steps = 1 + FunctionsAfter(quantize);
      cut_.AddSeparation(*data, item, elements * (times_.round * steps - times_.round_in_epilogue));
    } else if (!IsSum(quantize) && !joined_.contains(quantize.id())) {
      cut_.AddCosts(item, elements * times_.quantize, 0);
    }
    cut_.AddCosts(item, 0, elements * (product != nullptr ? times_.round_in_epilogue : times_.round));
  }

  // Returns whether the quantization is that of a sum of quantized values.
  bool IsSum(const ir::Node& quantize) {
    const ir::Node* producer = regions_.ProducerOf(quantize);
    return producer != nullptr && !regions_.HasFilter(*producer);
  }

  const ir::Graph& graph_;
  QuantizedRegions& regions_;
  const ir::StepTimes& times_;
  llvm::DenseMap<int32_t, int32_t> leaders_;   // of groups, with the item
  llvm::DenseMap<ir::NodeId, int32_t> items_;  // of results
  llvm::DenseSet<ir::NodeId> joined_;          // results of a Concat
  // Results that steps read in f32, with the elements of the largest value read.
  llvm::DenseMap<ir::NodeId, double> dequantized_;
  MinCut cut_;
};

}  // namespace

llvm::DenseSet<ir::NodeId> FasterResults(QuantizedRegions& regions, const ir::StepTimes& times) {
  // The time of a cut grows with the square of the results or worse.
  constexpr size_t kMaxResults = 4096;
  if (regions.results().size() > kMaxResults) return regions.results();
  return RegionCosts(regions, times).Solve();
}

}  // namespace nnefc::transform::target

// Marks on the nodes of a plan that compute with 8-bit quantized values.

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/target/quantized_regions.h"
#include "compiler/transform/target/region_costs.h"

namespace nnefc::transform::target {

namespace {

// Returns the function that quantizes filters in a plan.
QuantizedRegions::FilterOf FiltersOf(const ir::PlanFunctions* plan) {
  return plan == nullptr ? nullptr : plan->quantize_filter;
}

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
    QuantizedRegions regions(graph.ir(), FiltersOf(graph.plan()));
    regions.Find();
    for (ir::NodeId id : regions.results()) ir::ops::MarkQuantizedResult(graph.Raw(), id);
    for (const auto& [id, filter] : regions.filters()) {
      if (!filter.scales.empty()) ir::ops::MarkQuantizedFilter(graph.Raw(), id, filter);
    }
  }
};

class UnmarkSlowRegions : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "Marks of target.MarkQuantizedValues are removed where steps in f32 take less time than 8-bit "
           "steps, "
           "with the conversions between them, by the times that the backend states. Marks that no step with "
           "8-bit values needs are removed, too. Quantizations without marks round in f32.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,4]} : f32[1,4]
%1 = opset1.Const "low" : f32[] = dense<f32[]: 0.0>
%2 = opset1.Const "high" : f32[] = dense<f32[]: 255.0>
%3 = opset1.FakeQuantize "q" (%0, %1, %2, %1, %2) {levels = 256} rt {quantized_result = true} : f32[1,4]
%4 = opset1.Tanh "t" (%3) : f32[1,4]
opset1.Result "y" (%4)
)";
  }
  Names RunAfter() const override { return {"target.MarkQuantizedValues", "TargetStart"}; }
  void FindAndReplacePattern(Graph& graph) override {
    std::vector<ir::NodeId> marked;
    for (ir::NodeId id : graph.ir().nodes()) {
      const ir::Node& node = graph.ir().node(id);
      if (ir::ops::HasQuantizedResult(node) || ir::ops::QuantizedFilterOf(node)) marked.push_back(id);
    }
    if (marked.empty()) return;
    QuantizedRegions regions(graph.ir(), [](const ir::Node& node, const TensorValue&) {
      return ir::ops::QuantizedFilterOf(node).value_or(ir::FilterQuantization());
    });
    regions.Find();
    if (graph.plan() != nullptr && graph.plan()->times != nullptr)
      regions.Restrict(FasterResults(regions, *graph.plan()->times));
    for (ir::NodeId id : marked) {
      const ir::Node& node = graph.ir().node(id);
      const bool reads_quantized = regions.HasFilter(node) && regions.SourceOf(node.input(0));
      if (!regions.results().contains(id) && !reads_quantized) ir::ops::UnmarkQuantized(graph.Raw(), id);
    }
  }
};

void RegisterQuantizedValues(TransformationList& list) {
  list.Add<target::MarkQuantizedValues>();
  list.Add<target::UnmarkSlowRegions>();
}

}  // namespace nnefc::transform::target

// Quantizations whose zero points are not whole.

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/target/quantizations.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace nnefc::transform::target {

namespace {

// A quantization with a whole zero point, and the number to add to its results.
struct ShiftedRange {
  float low = 0, high = 0;  // results
  double shift = 0;
};

// Returns the range of a FakeQuantize to 256 levels whose zero point is not whole; nothing for other nodes.
std::optional<ShiftedRange> ShiftedRangeOf(const ir::Graph& graph, const ir::Node& quantize) {
  if (!quantize.Is(ir::Quantizer::kFakeQuantize) || RangeOf(graph, quantize)) return std::nullopt;
  if (quantize.Int("levels") != ir::ops::kQuantizedValues) return std::nullopt;
  const std::vector<float> limits = LimitsOf(graph, quantize);
  if (limits.size() != 4 || !llvm::all_of(limits, [](float limit) { return std::isfinite(limit); }))
    return std::nullopt;
  constexpr int64_t kLast = ir::ops::kQuantizedValues - 1;
  const double low = limits[2], scale = (double{limits[3]} - low) / kLast;
  // Far from zero, a range has too few bits for its width.
  constexpr double kMaxDistance = 16 * kLast;
  if (!(scale > 0) || !(std::abs(low) <= kMaxDistance * scale)) return std::nullopt;
  const double zero = std::clamp(std::nearbyint(-low / scale), 0.0, double{kLast});
  return ShiftedRange{.low = static_cast<float>(0 - zero * scale),
                      .high = static_cast<float>((kLast - zero) * scale),
                      .shift = low + zero * scale};
}

// Returns whether all elements that a convolution reads are data, without padding.
bool ReadsOnlyData(const ir::Node& convolution, const Shape& filter, size_t first_window_axis) {
  const std::string& auto_pad = convolution.String("auto_pad");
  if (auto_pad == "valid") return true;
  // Windows of one element are never padded to the size of the input.
  if (auto_pad != "explicit")
    return llvm::all_of(llvm::ArrayRef<int64_t>(filter).drop_front(first_window_axis),
                        [](int64_t extent) { return extent == 1; });
  const auto are_zero = [&](std::string_view name) {
    return llvm::all_of(convolution.Ints(name), [](int64_t pad) { return pad == 0; });
  };
  return are_zero("pads_begin") && are_zero("pads_end");
}

// Returns the sum of the filter of each output channel of a matmul or a convolution without padding, whose
// filter has a quantization; empty for other nodes.
std::vector<double> FilterSums(const Graph& graph, const ir::Node& node) {
  const bool is_matmul = node.Is(ir::Contraction::kMatMul);
  const bool is_grouped = node.Is(ir::Contraction::kGroupConvolution);
  if (!is_matmul && !is_grouped && !node.Is(ir::Contraction::kConvolution)) return {};
  const TensorValue* filter = ConstantF32(graph.ir(), node.input(1));
  const ir::PartialShape& result = node.output().shape;
  if (filter == nullptr || filter->volume() == 0 || !result.rank_known()) return {};
  const Shape& shape = filter->shape();
  if (is_matmul) {
    const ir::PartialShape& data = graph.ir().output(node.input(0)).shape;
    if (shape.size() != 2 || node.Bool("transpose_a") || !data.rank_known() || data.rank() < 2) return {};
  } else if (!ReadsOnlyData(node, shape, is_grouped ? 3 : 2)) {
    return {};
  }
  const ir::PlanFunctions* plan = graph.plan();
  const bool is_rejected = plan != nullptr && plan->quantize_filter != nullptr &&
                           plan->quantize_filter(node, *filter).scales.empty();
  if (is_rejected) return {};
  const TensorValue loaded = filter->Loaded().Aligned(alignof(float));
  const std::span<const float> numbers = loaded.elements<float>();
  const bool are_columns = is_matmul && !node.Bool("transpose_b");
  const auto channels = static_cast<size_t>(is_grouped ? shape[0] * shape[1] : shape[are_columns ? 1 : 0]);
  std::vector<double> sums(channels);
  for (size_t i = 0; i < numbers.size(); ++i)
    sums[are_columns ? i % channels : i / (numbers.size() / channels)] += double{numbers[i]};
  return sums;
}

// Returns the Add of constants by channel that is the only consumer of a node, or null.
const ir::Node* BiasOf(const ir::Graph& graph, const ir::Node& node, const Shape& by_channel) {
  if (node.uses(0).size() != 1) return nullptr;
  const ir::Node& user = graph.node(node.uses(0)[0].node);
  if (!user.Is(ir::ElementFunction::kAdd) || node.uses(0)[0].index != 0) return nullptr;
  const TensorValue* bias = ConstantF32(graph, user.input(1));
  return bias != nullptr && bias->shape() == by_channel ? &user : nullptr;
}

// Adds a number by channel to the result of a node, to a bias if there is one.
void AddByChannel(Graph& graph, ir::NodeId id, const std::vector<double>& numbers) {
  const ir::Node& node = graph.ir().node(id);
  Shape by_channel(static_cast<size_t>(node.output().shape.rank()), 1);
  const size_t axis = node.Is(ir::Contraction::kMatMul) ? by_channel.size() - 1 : 1;
  by_channel[axis] = static_cast<int64_t>(numbers.size());
  const ir::Node* bias = BiasOf(graph.ir(), node, by_channel);
  const TensorValue* given = bias != nullptr ? ConstantF32(graph.ir(), bias->input(1)) : nullptr;
  std::vector<float> sums;
  sums.reserve(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double start = given != nullptr ? given->ElementAsDouble(static_cast<int64_t>(i)) : 0;
    sums.push_back(static_cast<float>(start + numbers[i]));
  }
  // Copies: new nodes may move the nodes.
  const Graph::Spec spec{.name = node.name(), .origin = node.origin()};
  const ir::OutputPort output = node.port();
  const std::optional<ir::NodeId> bias_id = bias != nullptr ? std::optional(bias->id()) : std::nullopt;
  const Port constant = graph.CreateConst(TensorValue::FromFloats(by_channel, sums), spec.name).out_port(0);
  if (bias_id) {
    Node(graph, *bias_id).in_port(1).Connect(constant);
    return;
  }
  const Port result = PortOf(graph, output);
  const Node sum = graph.CreateNode("opset1.Add", {result, constant}, spec);
  ReplaceOutput(graph, output, sum.ir().port());
  Node(graph, sum.id()).in_port(0).Connect(result);
}

void RoundZeroPoint(Graph& graph, const ir::Node& quantize) {
  const std::optional<ShiftedRange> range = ShiftedRangeOf(graph.ir(), quantize);
  if (!range) return;
  std::vector<std::pair<ir::NodeId, std::vector<double>>> consumers;
  for (const ir::InputPort& use : quantize.uses(0)) {
    const ir::Node& consumer = graph.ir().node(use.node);
    std::vector<double> numbers = use.index == 0 ? FilterSums(graph, consumer) : std::vector<double>();
    if (numbers.empty()) return;
    for (double& number : numbers) number *= range->shift;
    consumers.emplace_back(use.node, std::move(numbers));
  }
  const ir::NodeId id = quantize.id();
  const Graph::Spec spec{.name = quantize.name()};  // a copy: new nodes may move the node
  const float limits[] = {range->low, range->high};
  for (int32_t i = 0; i < 2; ++i) {
    const Port limit = graph.CreateConst(TensorValue::FromFloats({}, {limits[i]}), spec.name).out_port(0);
    Node(graph, id).in_port(3 + i).Connect(limit);
  }
  for (const auto& [consumer, numbers] : consumers) AddByChannel(graph, consumer, numbers);
}

}  // namespace

class RoundZeroPoints : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "A quantization whose zero point is not whole, read only by matmuls and convolutions without "
           "padding, gets a range with a whole zero point. The difference times the sum of a filter is added "
           "to the result of each consumer.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,2,3,3]} : f32[1,2,3,3]
%1 = opset1.Const "low" : f32[] = dense<f32[]: -0.25>
%2 = opset1.Const "high" : f32[] = dense<f32[]: 254.75>
%3 = opset1.FakeQuantize "q" (%0, %1, %2, %1, %2) {levels = 256} : f32[1,2,3,3]
%4 = opset1.Const "w" : f32[1,2,1,1] = dense<f32[1,2,1,1]: 1.0, 2.0>
%5 = opset1.Convolution "c" (%3, %4) {strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 1]} : f32[1,1,3,3]
opset1.Result "y" (%5)
)";
  }
  Names RunAfter() const override { return {"target.QuantizeChannelsEqually", "TargetStart"}; }
  void FindAndReplacePattern(Graph& graph) override {
    for (ir::NodeId id : graph.Order()) RoundZeroPoint(graph, graph.ir().node(id));
    graph.CleanUp();
  }
};

void RegisterZeroPoints(TransformationList& list) {
  list.Add<target::RoundZeroPoints>();
}

}  // namespace nnefc::transform::target

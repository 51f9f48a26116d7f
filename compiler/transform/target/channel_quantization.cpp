// Quantizations with a range for each channel.

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/target/quantizations.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace nnefc::transform::target {

namespace {

// The quantization of each channel.
struct ChannelRanges {
  std::vector<float> scales, zeros;

  bool has_one_zero() const {
    return llvm::all_of(zeros, [&](float zero) { return zero == zeros.front(); });
  }
};

// Returns the ranges of a FakeQuantize whose constant limits differ by channel of an image.
std::optional<ChannelRanges> ChannelRangesOf(const ir::Graph& graph, const ir::Node& quantize) {
  constexpr size_t kLimits = 4, kMinRank = 3, kMaxRank = 5;
  if (!quantize.Is(ir::Quantizer::kFakeQuantize)) return std::nullopt;
  const std::optional<Shape> shape = quantize.output().shape.extents();
  if (quantize.output().type != ElementType::kF32 || !shape || shape->size() < kMinRank ||
      shape->size() > kMaxRank || shape != graph.output(quantize.input(0)).shape.extents() ||
      quantize.String("auto_broadcast") == "pdpd")
    return std::nullopt;
  const auto channels = static_cast<size_t>((*shape)[1]);
  Shape by_channel(shape->size(), 1);
  by_channel[1] = (*shape)[1];
  std::array<const TensorValue*, kLimits> limits;
  bool differ = false;
  for (size_t i = 0; i < kLimits; ++i) {
    limits[i] = ConstantF32(graph, quantize.input(static_cast<int32_t>(i) + 1));
    if (limits[i] == nullptr) return std::nullopt;
    if (limits[i]->volume() == 1) continue;
    Shape aligned(shape->size() - std::min(shape->size(), limits[i]->shape().size()), 1);
    aligned.append(limits[i]->shape().begin(), limits[i]->shape().end());
    if (aligned != by_channel) return std::nullopt;
    differ = true;
  }
  if (!differ) return std::nullopt;
  ChannelRanges ranges;
  for (size_t channel = 0; channel < channels; ++channel) {
    llvm::SmallVector<TensorValue, kLimits> numbers;
    llvm::SmallVector<const TensorValue*, kLimits> pointers;
    for (const TensorValue* limit : limits) {
      const int64_t at = limit->volume() == 1 ? 0 : static_cast<int64_t>(channel);
      numbers.push_back(TensorValue::FromFloats({}, {static_cast<float>(limit->ElementAsDouble(at))}));
    }
    // Other results than the data's limits would scale the results twice.
    if (numbers[0].ElementAsDouble(0) != numbers[2].ElementAsDouble(0) ||
        numbers[1].ElementAsDouble(0) != numbers[3].ElementAsDouble(0))
      return std::nullopt;
    for (const TensorValue& number : numbers) pointers.push_back(&number);
    const std::optional<ir::ops::LinearQuantization> range =
        ir::ops::LinearQuantizationOf(quantize, pointers);
    constexpr float kMin = 1e-18F, kMax = 1e18F;  // scales with normal reciprocals
    if (!range || range->scale < kMin || range->scale > kMax) return std::nullopt;
    ranges.zeros.push_back(static_cast<float>(range->zero));
    ranges.scales.push_back(range->scale);
  }
  return ranges;
}

// Returns the filter of a depthwise convolution, [channels, 1, 1, ...], with the filters of each channel
// multiplied by the scale of its range; nothing for other nodes, or if the result has no 8-bit quantization
// and a convolution with an f32 filter does not read quantized values with these zero points.
std::optional<TensorValue> ScaledFilter(const Graph& graph, const ir::Node& node,
                                        const ChannelRanges& ranges) {
  const llvm::ArrayRef<float> factors = ranges.scales;
  if (!node.Is(ir::Contraction::kGroupConvolution)) return std::nullopt;
  const TensorValue* filter = ConstantF32(graph.ir(), node.input(1));
  if (filter == nullptr || filter->rank() < 4 || filter->volume() == 0) return std::nullopt;
  const Shape& shape = filter->shape();
  if (shape[0] != static_cast<int64_t>(factors.size()) || shape[1] != 1 || shape[2] != 1) return std::nullopt;
  const TensorValue loaded = filter->Loaded().Aligned(alignof(float));
  const std::span<const float> numbers = loaded.elements<float>();
  std::vector<float> scaled(numbers.begin(), numbers.end());
  const size_t each = scaled.size() / factors.size();
  for (size_t i = 0; i < scaled.size(); ++i) scaled[i] *= factors[i / each];
  TensorValue result = TensorValue::FromFloats(shape, scaled);
  const ir::PlanFunctions* plan = graph.plan();
  const bool is_mixed = ranges.has_one_zero() && SuitsMixedStep(shape);
  const bool is_rejected = !is_mixed && plan != nullptr && plan->quantize_filter != nullptr &&
                           plan->quantize_filter(node, result).scales.empty();
  return is_rejected ? std::nullopt : std::optional(std::move(result));
}

void MoveScales(Graph& graph, const ir::Node& quantize) {
  const std::optional<ChannelRanges> ranges = ChannelRangesOf(graph.ir(), quantize);
  if (!ranges) return;
  llvm::SmallVector<std::pair<ir::NodeId, TensorValue>, 2> filters;
  for (const ir::InputPort& use : quantize.uses(0)) {
    std::optional<TensorValue> filter =
        use.index == 0 ? ScaledFilter(graph, graph.ir().node(use.node), *ranges) : std::nullopt;
    if (!filter) return;
    filters.emplace_back(use.node, std::move(*filter));
  }
  if (filters.empty()) return;
  // Copies: new nodes may move the quantization.
  const Graph::Spec spec{
      .name = quantize.name(), .attributes = quantize.attributes(), .origin = quantize.origin()};
  const ir::NodeId replaced = quantize.id();
  const size_t rank = quantize.output().shape.known_extents().size();
  std::vector<float> inverses;
  inverses.reserve(ranges->scales.size());
  for (float scale : ranges->scales) inverses.push_back(1 / scale);
  Shape by_channel(rank, 1);
  by_channel[1] = static_cast<int64_t>(inverses.size());
  const auto constant = [&](TensorValue value) {
    return graph.CreateConst(std::move(value), spec.name).out_port(0);
  };
  const Port factors = constant(TensorValue::FromFloats(by_channel, inverses));
  const Port data = Node(graph, replaced).in_port(0).GetSource();
  const auto create = [&](std::string_view operation, const Port& left, const Port& right) {
    return graph.CreateNode(operation, {left, right}, {.name = spec.name, .origin = spec.origin}).out_port(0);
  };
  Port scaled = create("opset1.Multiply", data, factors);
  const bool has_one_zero = ranges->has_one_zero();
  std::optional<Port> zeros;
  if (!has_one_zero) {
    zeros = constant(TensorValue::FromFloats(by_channel, ranges->zeros));
    scaled = create("opset1.Add", scaled, *zeros);
  }
  const auto last = static_cast<float>(ir::ops::kQuantizedValues - 1);
  const float zero = has_one_zero ? ranges->zeros.front() : 0;
  const Port low = constant(TensorValue::FromFloats({}, {0 - zero}));
  const Port high = constant(TensorValue::FromFloats({}, {last - zero}));
  const Port equal =
      graph.CreateNode("opset1.FakeQuantize", {scaled, low, high, low, high}, spec).out_port(0);
  for (auto& [id, filter] : filters) {
    const Node convolution(graph, id);
    convolution.in_port(0).Connect(zeros ? create("opset1.Subtract", equal, *zeros) : equal);
    convolution.in_port(1).Connect(graph.CreateConst(std::move(filter), convolution.name()).out_port(0));
  }
}

}  // namespace

class QuantizeChannelsEqually : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "A quantization with a range for each channel, read only by depthwise convolutions, divides its "
           "data by the scales and quantizes to integers; the filters are multiplied by the scales. "
           "Different zero points are added before the quantization and subtracted after it. Numbers nearly "
           "halfway between two quantized values may become the other one.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,2,3,3]} : f32[1,2,3,3]
%1 = opset1.Const "low" : f32[] = dense<f32[]: 0.0>
%2 = opset1.Const "high" : f32[1,2,1,1] = dense<f32[1,2,1,1]: 255.0, 510.0>
%3 = opset1.FakeQuantize "q" (%0, %1, %2, %1, %2) {levels = 256} : f32[1,2,3,3]
%4 = opset1.Const "w" : f32[2,1,1,1,1] = dense<f32[2,1,1,1,1]: 1.0, 2.0>
%5 = opset1.GroupConvolution "c" (%3, %4) {strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 1]} : f32[1,2,3,3]
opset1.Result "y" (%5)
)";
  }
  Names RunAfter() const override { return {"target.RemoveQuantizationAfterMoves", "TargetStart"}; }
  void FindAndReplacePattern(Graph& graph) override {
    for (ir::NodeId id : graph.Order()) MoveScales(graph, graph.ir().node(id));
    graph.CleanUp();
  }
};

void RegisterChannelQuantization(TransformationList& list) {
  list.Add<target::QuantizeChannelsEqually>();
}

}  // namespace nnefc::transform::target

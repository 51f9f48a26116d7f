// Quantizations with a range for each channel, and quantized channels that are scaled and quantized again.

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/target/quantizations.h"
#include "compiler/transform/values.h"
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

// A depthwise convolution that reads channels of a quantized image, beginning at `first`, and its filter with
// the taps of each channel multiplied by the scale of the channel's range.
struct ScaledConvolution {
  ir::NodeId id;
  size_t first;
  TensorValue filter;
};

// Returns the filter of a depthwise convolution, [channels, 1, 1, ...], multiplied by the scales of the
// channels from `first`; nothing for other nodes, or if the result has no 8-bit quantization and a
// convolution with an f32 filter does not read quantized values with these zero points.
std::optional<TensorValue> ScaledFilter(const Graph& graph, const ir::Node& node, const ChannelRanges& ranges,
                                        size_t first) {
  if (!node.Is(ir::Contraction::kGroupConvolution)) return std::nullopt;
  const TensorValue* filter = ConstantF32(graph.ir(), node.input(1));
  const std::optional<Shape> data = graph.ir().output(node.input(0)).shape.extents();
  if (filter == nullptr || filter->rank() < 4 || filter->volume() == 0 || !data) return std::nullopt;
  const Shape& shape = filter->shape();
  if (shape[0] != (*data)[1] || shape[1] != 1 || shape[2] != 1) return std::nullopt;
  const auto channels = static_cast<size_t>(shape[0]);
  const llvm::ArrayRef<float> factors = llvm::ArrayRef<float>(ranges.scales).slice(first, channels);
  const TensorValue loaded = filter->Loaded().Aligned(alignof(float));
  const std::span<const float> numbers = loaded.elements<float>();
  std::vector<float> scaled(numbers.begin(), numbers.end());
  const size_t each = scaled.size() / channels;
  for (size_t i = 0; i < scaled.size(); ++i) scaled[i] *= factors[i / each];
  TensorValue result = TensorValue::FromFloats(shape, scaled);
  const ir::PlanFunctions* plan = graph.plan();
  const bool is_mixed = ranges.has_one_zero() && SuitsMixedStep(shape);
  const bool is_rejected = !is_mixed && plan != nullptr && plan->quantize_filter != nullptr &&
                           plan->quantize_filter(node, result).scales.empty();
  return is_rejected ? std::nullopt : std::optional(std::move(result));
}

// Lists the depthwise convolutions that read a quantized image or parts of its channels; returns false if
// there are other readers.
bool ListConvolutions(const Graph& graph, const ir::Node& quantize, const ChannelRanges& ranges,
                      std::vector<ScaledConvolution>& convolutions) {
  struct Part {
    ir::OutputPort port;
    size_t first;
  };
  std::vector<Part> pending = {{quantize.port(), 0}};
  while (!pending.empty()) {
    const Part part = pending.back();
    pending.pop_back();
    for (const ir::InputPort& use : graph.ir().node(part.port.node).uses(part.port.index)) {
      const ir::Node& reader = graph.ir().node(use.node);
      if (use.index != 0) return false;
      if (ir::ops::SplitsImages(graph.ir(), reader)) {
        size_t first = part.first;
        for (int32_t i = 0; i < reader.num_outputs(); ++i) {
          pending.push_back({reader.port(i), first});
          first += static_cast<size_t>(reader.output(i).shape.known_extents()[1]);
        }
        continue;
      }
      std::optional<TensorValue> filter = ScaledFilter(graph, reader, ranges, part.first);
      if (!filter) return false;
      convolutions.push_back({use.node, part.first, std::move(*filter)});
    }
  }
  return !convolutions.empty();
}

void MoveScales(Graph& graph, const ir::Node& quantize) {
  const std::optional<ChannelRanges> ranges = ChannelRangesOf(graph.ir(), quantize);
  std::vector<ScaledConvolution> convolutions;
  if (!ranges || !ListConvolutions(graph, quantize, *ranges, convolutions)) return;
  // Copies: new nodes may move the quantization.
  const Graph::Spec spec{
      .name = quantize.name(), .attributes = quantize.attributes(), .origin = quantize.origin()};
  const ir::NodeId replaced = quantize.id();
  const size_t rank = quantize.output().shape.known_extents().size();
  std::vector<float> inverses;
  inverses.reserve(ranges->scales.size());
  for (float scale : ranges->scales) inverses.push_back(1 / scale);
  const auto constant = [&](TensorValue value) {
    return graph.CreateConst(std::move(value), spec.name).out_port(0);
  };
  const auto by_channel = [&](llvm::ArrayRef<float> numbers) {
    Shape shape(rank, 1);
    shape[1] = static_cast<int64_t>(numbers.size());
    return constant(TensorValue::FromFloats(shape, numbers));
  };
  const Port data = Node(graph, replaced).in_port(0).GetSource();
  const auto create = [&](std::string_view operation, const Port& left, const Port& right) {
    return graph.CreateNode(operation, {left, right}, {.name = spec.name, .origin = spec.origin}).out_port(0);
  };
  Port scaled = create("opset1.Multiply", data, by_channel(inverses));
  const bool has_one_zero = ranges->has_one_zero();
  if (!has_one_zero) scaled = create("opset1.Add", scaled, by_channel(ranges->zeros));
  const auto last = static_cast<float>(ir::ops::kQuantizedValues - 1);
  const float zero = has_one_zero ? ranges->zeros.front() : 0;
  const Port low = constant(TensorValue::FromFloats({}, {0 - zero}));
  const Port high = constant(TensorValue::FromFloats({}, {last - zero}));
  TakePlace(graph, Node(graph, replaced),
            graph.CreateNode("opset1.FakeQuantize", {scaled, low, high, low, high}, spec));
  for (ScaledConvolution& each : convolutions) {
    const Node convolution(graph, each.id);
    if (!has_one_zero) {
      const auto channels = static_cast<size_t>(each.filter.shape()[0]);
      const Port zeros = by_channel(llvm::ArrayRef<float>(ranges->zeros).slice(each.first, channels));
      convolution.in_port(0).Connect(create("opset1.Subtract", convolution.in_port(0).GetSource(), zeros));
    }
    convolution.in_port(1).Connect(graph.CreateConst(std::move(each.filter), convolution.name()).out_port(0));
  }
}

// --- scaled channels -------------------------------------------------------------------

// Returns the finite constant numbers of an operand, one for each channel of an image of that shape, or null.
const TensorValue* NumbersOfChannels(const ir::Graph& graph, const ir::Node& node, int32_t input,
                                     const Shape& image) {
  const TensorValue* numbers = ConstantF32(graph, node.input(input));
  Shape by_channel(image.size(), 1);
  by_channel[1] = image[1];
  if (numbers == nullptr || numbers->shape() != by_channel || node.String("auto_broadcast") == "pdpd")
    return nullptr;
  for (int64_t i = 0; i < numbers->volume(); ++i) {
    if (!std::isfinite(numbers->ElementAsDouble(i))) return nullptr;
  }
  return numbers;
}

// Returns whether the only reader of a product by channel is a quantization to 8 bits, or the sum with a
// number of each channel that such a quantization alone reads.
bool IsQuantizedAgain(const ir::Graph& graph, const ir::Node& product, const Shape& image) {
  if (product.uses(0).size() != 1) return false;
  const ir::InputPort use = product.uses(0)[0];
  const ir::Node& user = graph.node(use.node);
  if (RangeOf(graph, user)) return use.index == 0;
  if (!user.Is(ir::ElementFunction::kAdd) || use.index != 0 || user.uses(0).size() != 1 ||
      NumbersOfChannels(graph, user, 1, image) == nullptr)
    return false;
  const ir::InputPort next = user.uses(0)[0];
  return next.index == 0 && RangeOf(graph, graph.node(next.node));
}

// Replaces the product of quantized channels and a number of each by a convolution.
void ConvolveScales(Graph& graph, const ir::Node& product) {
  const ir::Graph& ir = graph.ir();
  if (!product.Is(ir::ElementFunction::kMultiply)) return;
  const std::optional<Shape> image = product.output().shape.extents();
  if (!image || image->size() < 3 || image->size() > 4 || Volume(*image) == 0 ||
      ir.output(product.input(0)).shape.extents() != image || !RangeOf(ir, ir.node(product.input(0).node)) ||
      !IsQuantizedAgain(ir, product, *image))
    return;
  const TensorValue* scales = NumbersOfChannels(ir, product, 1, *image);
  Shape filter(image->size() + 1, 1);
  filter[0] = (*image)[1];
  if (scales == nullptr || !SuitsMixedStep(filter)) return;
  const std::vector<int64_t> ones(image->size() - 2, 1), zeros(image->size() - 2, 0);
  Graph::Spec spec{.name = product.name(), .origin = product.origin()};
  spec.attributes.Set("strides", ones);
  spec.attributes.Set("dilations", ones);
  spec.attributes.Set("pads_begin", zeros);
  spec.attributes.Set("pads_end", zeros);
  const Node given(graph, product.id());
  const Port taps = graph.CreateConst(scales->Reshaped(filter), given.name()).out_port(0);
  TakePlace(
      graph, given,
      graph.CreateNode("opset1.GroupConvolution", {given.in_port(0).GetSource(), taps}, std::move(spec)));
  graph.Remove(given);
}

}  // namespace

class QuantizeChannelsEqually : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "A quantization with a range for each channel, read only by depthwise convolutions, also of parts "
           "of the channels, divides its data by the scales and quantizes to integers; the filters are "
           "multiplied by the scales. "
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

class ConvolveQuantizedScales : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "The product of a quantized image and a number of each channel that is quantized again, with or "
           "without the sum with such numbers, becomes a depthwise convolution of one tap, whose step reads "
           "and writes quantized images.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,16,1,1]} : f32[1,16,1,1]
%1 = opset1.Const "low" : f32[] = dense<f32[]: 0.0>
%2 = opset1.Const "high" : f32[] = dense<f32[]: 255.0>
%3 = opset1.FakeQuantize "q" (%0, %1, %2, %1, %2) {levels = 256} : f32[1,16,1,1]
%4 = opset1.Const "scales" : f32[1,16,1,1] = dense<f32[1,16,1,1]: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0>
%5 = opset1.Multiply "m" (%3, %4) : f32[1,16,1,1]
%6 = opset1.FakeQuantize "r" (%5, %1, %2, %1, %2) {levels = 256} : f32[1,16,1,1]
opset1.Result "y" (%6)
)";
  }
  Names RunAfter() const override { return {"target.QuantizeChannelsEqually", "TargetStart"}; }
  Names RunBefore() const override { return {"target.MarkQuantizedProducts", "TargetFinish"}; }
  void FindAndReplacePattern(Graph& graph) override {
    for (ir::NodeId id : graph.Order()) ConvolveScales(graph, graph.ir().node(id));
    graph.CleanUp();
  }
};

void RegisterChannelQuantization(TransformationList& list) {
  list.Add<target::ConvolveQuantizedScales>();
  list.Add<target::QuantizeChannelsEqually>();
}

}  // namespace nnefc::transform::target

// Quantizations whose zero points are not whole.

#include <algorithm>
#include <cmath>
#include <compare>
#include <map>
#include <optional>
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

// Numbers added to the results of a consumer, by channel or for each element of an image.
struct Addend {
  Shape shape;
  std::vector<double> numbers;
};

// The taps of a window along an axis that see data.
struct SeenTaps {
  int64_t begin, end;

  friend auto operator<=>(const SeenTaps&, const SeenTaps&) = default;
};

// Returns the taps along an axis that see data, of each position of the result.
std::vector<SeenTaps> SeenTapsOf(const ir::Node& convolution, size_t axis, int64_t input, int64_t taps,
                                 int64_t output) {
  const int64_t stride = convolution.Ints("strides")[axis], dilation = convolution.Ints("dilations")[axis],
                before = convolution.Ints("pads_begin")[axis];
  std::vector<SeenTaps> seen;
  for (int64_t i = 0; i < output; ++i) {
    const int64_t first = i * stride - before;
    const auto is_data = [&](int64_t tap) {
      return first + tap * dilation >= 0 && first + tap * dilation < input;
    };
    SeenTaps at{0, taps};
    while (at.begin < at.end && !is_data(at.begin)) ++at.begin;
    while (at.end > at.begin && !is_data(at.end - 1)) --at.end;
    seen.push_back(at);
  }
  return seen;
}

// Returns whether a tap of a window is one of those along each axis.
bool IsSeen(llvm::ArrayRef<SeenTaps> seen, llvm::ArrayRef<int64_t> window, int64_t tap) {
  for (size_t axis = window.size(); axis-- > 0; tap /= window[axis]) {
    const int64_t own = tap % window[axis];
    if (own < seen[axis].begin || own >= seen[axis].end) return false;
  }
  return true;
}

// Returns whether an 8-bit convolution that adds an image to its results takes less time than one in f32.
bool SuitsAddedImage(const Graph& graph, const ir::Node& node, const Shape& data, const Shape& filter,
                     const Shape& result) {
  constexpr int64_t kMaxElements = 1 << 20;  // the image is a constant
  const ir::StepTimes* times = graph.plan() == nullptr ? nullptr : graph.plan()->times;
  if (times == nullptr || times->product == nullptr || !times->add_image) return false;
  const int64_t elements = Volume(result).value_or(kMaxElements + 1);
  if (data[0] != 1 || elements > kMaxElements) return false;
  return times->product(node, data, filter, result, true) +
             static_cast<double>(elements) * *times->add_image <
         times->product(node, data, filter, result, false);
}

// Returns the sums of the taps of a padded convolution that see data, for each element of its result; nothing
// if f32 takes less time.
std::optional<Addend> SumsOfSeenTaps(const Graph& graph, const ir::Node& node, const Shape& filter,
                                     std::span<const float> numbers) {
  const std::optional<Shape> data = graph.ir().output(node.input(0)).shape.extents(),
                             result = node.output().shape.extents();
  if (!node.Is(ir::Contraction::kConvolution) || node.String("auto_pad") != "explicit" || !data || !result ||
      !SuitsAddedImage(graph, node, *data, filter, *result))
    return std::nullopt;
  const int64_t outputs = filter[0], channels = filter[1];
  const size_t axes = filter.size() - 2;
  const int64_t taps = *Volume(llvm::ArrayRef<int64_t>(filter).drop_front(2));
  std::vector<double> by_tap(static_cast<size_t>(outputs * taps));
  for (int64_t i = 0; i < outputs * channels * taps; ++i)
    by_tap[static_cast<size_t>(i / (channels * taps) * taps + i % taps)] +=
        double{numbers[static_cast<size_t>(i)]};
  std::vector<std::vector<SeenTaps>> seen;
  for (size_t axis = 0; axis < axes; ++axis)
    seen.push_back(SeenTapsOf(node, axis, (*data)[axis + 2], filter[axis + 2], (*result)[axis + 2]));
  const int64_t pixels = *Volume(llvm::ArrayRef<int64_t>(*result).drop_front(2));
  Addend sums{.shape = *result, .numbers = std::vector<double>(static_cast<size_t>(outputs * pixels))};
  // Pixels with the same seen taps have the same sums.
  std::map<std::vector<SeenTaps>, std::vector<double>> known;
  std::vector<SeenTaps> of_pixel(axes);
  for (int64_t pixel = 0; pixel < pixels; ++pixel) {
    int64_t place = pixel;
    for (size_t axis = axes; axis-- > 0; place /= (*result)[axis + 2])
      of_pixel[axis] = seen[axis][static_cast<size_t>(place % (*result)[axis + 2])];
    const auto [found, is_new] = known.try_emplace(of_pixel, static_cast<size_t>(outputs));
    for (int64_t i = 0; is_new && i < outputs * taps; ++i) {
      if (IsSeen(of_pixel, llvm::ArrayRef<int64_t>(filter).drop_front(2), i % taps))
        found->second[static_cast<size_t>(i / taps)] += by_tap[static_cast<size_t>(i)];
    }
    for (int64_t output = 0; output < outputs; ++output)
      sums.numbers[static_cast<size_t>(output * pixels + pixel)] = found->second[static_cast<size_t>(output)];
  }
  return sums;
}

// Returns the sums of the filter of a matmul or a convolution that has a quantization, of the taps that see
// data; nothing for other nodes.
std::optional<Addend> FilterSums(const Graph& graph, const ir::Node& node) {
  const bool is_matmul = node.Is(ir::Contraction::kMatMul);
  const bool is_grouped = node.Is(ir::Contraction::kGroupConvolution);
  if (!is_matmul && !is_grouped && !node.Is(ir::Contraction::kConvolution)) return std::nullopt;
  const TensorValue* filter = ConstantF32(graph.ir(), node.input(1));
  const ir::PartialShape& result = node.output().shape;
  if (filter == nullptr || filter->volume() == 0 || !result.rank_known()) return std::nullopt;
  const Shape& shape = filter->shape();
  if (is_matmul) {
    const ir::PartialShape& data = graph.ir().output(node.input(0)).shape;
    if (shape.size() != 2 || node.Bool("transpose_a") || !data.rank_known() || data.rank() < 2)
      return std::nullopt;
  }
  const ir::PlanFunctions* plan = graph.plan();
  const bool is_rejected = plan != nullptr && plan->quantize_filter != nullptr &&
                           plan->quantize_filter(node, *filter).scales.empty();
  if (is_rejected) return std::nullopt;
  const TensorValue loaded = filter->Loaded().Aligned(alignof(float));
  const std::span<const float> numbers = loaded.elements<float>();
  if (!is_matmul && !ReadsOnlyData(node, shape, is_grouped ? 3 : 2))
    return SumsOfSeenTaps(graph, node, shape, numbers);
  const bool are_columns = is_matmul && !node.Bool("transpose_b");
  const auto channels = static_cast<size_t>(is_grouped ? shape[0] * shape[1] : shape[are_columns ? 1 : 0]);
  Addend sums{.shape = Shape(static_cast<size_t>(result.rank()), 1),
              .numbers = std::vector<double>(channels)};
  sums.shape[is_matmul ? sums.shape.size() - 1 : 1] = static_cast<int64_t>(channels);
  for (size_t i = 0; i < numbers.size(); ++i)
    sums.numbers[are_columns ? i % channels : i / (numbers.size() / channels)] += double{numbers[i]};
  return sums;
}

// Returns the Add of constants by channel that is the only consumer of a node, or null.
const ir::Node* BiasOf(const ir::Graph& graph, const ir::Node& node) {
  if (node.uses(0).size() != 1) return nullptr;
  const ir::Node& user = graph.node(node.uses(0)[0].node);
  if (!user.Is(ir::ElementFunction::kAdd) || node.uses(0)[0].index != 0) return nullptr;
  Shape by_channel(static_cast<size_t>(node.output().shape.rank()), 1);
  const size_t axis = node.Is(ir::Contraction::kMatMul) ? by_channel.size() - 1 : 1;
  const TensorValue* bias = ConstantF32(graph, user.input(1));
  if (bias == nullptr || bias->rank() != static_cast<int64_t>(by_channel.size())) return nullptr;
  by_channel[axis] = bias->shape()[axis];
  const std::optional<int64_t> channels =
      node.output().shape.extents() ? std::optional((*node.output().shape.extents())[axis]) : std::nullopt;
  return bias->shape() == by_channel && (!channels || *channels == by_channel[axis]) ? &user : nullptr;
}

// Adds numbers to the result of a node, to a bias if there is one.
void AddToResult(Graph& graph, ir::NodeId id, const Addend& addend) {
  const ir::Node& node = graph.ir().node(id);
  const ir::Node* bias = BiasOf(graph.ir(), node);
  const TensorValue* given = bias != nullptr ? ConstantF32(graph.ir(), bias->input(1)) : nullptr;
  const size_t each = given == nullptr ? 1 : addend.numbers.size() / static_cast<size_t>(given->volume());
  std::vector<float> sums;
  sums.reserve(addend.numbers.size());
  for (size_t i = 0; i < addend.numbers.size(); ++i) {
    const double start = given != nullptr ? given->ElementAsDouble(static_cast<int64_t>(i / each)) : 0;
    sums.push_back(static_cast<float>(start + addend.numbers[i]));
  }
  // Copies: new nodes may move the nodes.
  const Graph::Spec spec{.name = node.name(), .origin = node.origin()};
  const ir::OutputPort output = node.port();
  const std::optional<ir::NodeId> bias_id = bias != nullptr ? std::optional(bias->id()) : std::nullopt;
  const Port constant = graph.CreateConst(TensorValue::FromFloats(addend.shape, sums), spec.name).out_port(0);
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
  std::vector<std::pair<ir::NodeId, Addend>> consumers;
  for (const ir::InputPort& use : quantize.uses(0)) {
    const ir::Node& consumer = graph.ir().node(use.node);
    std::optional<Addend> addend = use.index == 0 ? FilterSums(graph, consumer) : std::nullopt;
    if (!addend) return;
    for (double& number : addend->numbers) number *= range->shift;
    consumers.emplace_back(use.node, std::move(*addend));
  }
  const ir::NodeId id = quantize.id();
  const Graph::Spec spec{.name = quantize.name()};  // a copy: new nodes may move the node
  const float limits[] = {range->low, range->high};
  for (int32_t i = 0; i < 2; ++i) {
    const Port limit = graph.CreateConst(TensorValue::FromFloats({}, {limits[i]}), spec.name).out_port(0);
    Node(graph, id).in_port(3 + i).Connect(limit);
  }
  for (const auto& [consumer, addend] : consumers) AddToResult(graph, consumer, addend);
}

}  // namespace

class RoundZeroPoints : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "A quantization whose zero point is not whole, read only by matmuls and convolutions, gets a "
           "range "
           "with a whole zero point. The difference times the sum of a filter is added to the result of each "
           "consumer, of a padded convolution at each element the sum of the taps that see data, if that "
           "takes less time than f32.";
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

// Quantizations before moves of matmul and convolution operands, and before maxima.

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/target/quantizations.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::target {

namespace {

// A chain of nodes that each only move elements, each the only consumer of the one before.
struct MoveChain {
  ir::NodeId first, last;
};

// Returns whether all indices of a Gather are constants within the axis. Others may become zeros, which are
// not quantized.
bool HasKnownIndices(const ir::Graph& graph, const ir::Node& gather) {
  const std::optional<Shape> data = graph.output(gather.input(0)).shape.extents();
  const std::optional<TensorValue>&indices = graph.output(gather.input(1)).value,
        &axis = graph.output(gather.input(2)).value;
  if (!data || !indices || !axis || axis->volume() != 1) return false;
  const auto rank = static_cast<int64_t>(data->size());
  const int64_t at = axis->ElementAsInt(0) + (axis->ElementAsInt(0) < 0 ? rank : 0);
  if (at < 0 || at >= rank) return false;
  for (int64_t i = 0; i < indices->volume(); ++i) {
    const int64_t index = indices->ElementAsInt(i), extent = (*data)[static_cast<size_t>(at)];
    if (index < -extent || index >= extent) return false;
  }
  return true;
}

// Returns whether a node moves elements of its first input so that they do not stay quantized.
bool RearrangesElements(const ir::Graph& graph, const ir::Node& node) {
  if (node.Is(ir::Rearrangement::kPad)) return node.String("pad_mode") != "constant";
  return node.Is(ir::Rearrangement::kTranspose) || node.Is(ir::Rearrangement::kSlice) ||
         (node.Is(ir::Rearrangement::kGather) && HasKnownIndices(graph, node));
}

// Returns whether a node adds a border of zeros.
bool AddsZeros(const ir::Graph& graph, const ir::Node& node) {
  if (!node.Is(ir::Rearrangement::kPad) || node.String("pad_mode") != "constant") return false;
  if (node.num_inputs() < 4) return true;
  const TensorValue* border = ConstantNumber(graph, node.input(3));
  return border != nullptr && border->ElementAsDouble(0) == 0;
}

// Returns the views and moves that begin with a reader of a value; nothing if there are views alone.
std::optional<MoveChain> MovesFrom(const ir::Graph& graph, const ir::InputPort& reader) {
  MoveChain moves{.first = reader.node, .last = reader.node};
  bool has_move = false;
  for (ir::InputPort use = reader;;) {
    const ir::Node& user = graph.node(use.node);
    const bool is_move = RearrangesElements(graph, user);
    if (use.index != 0 || user.num_outputs() != 1 || (!is_move && !user.Is(ir::OpRole::kView))) break;
    has_move = has_move || is_move;
    moves.last = use.node;
    if (user.uses(0).size() != 1) break;
    use = user.uses(0)[0];
  }
  return has_move ? std::optional(moves) : std::nullopt;
}

// Returns the most results for each element of a value: of convolutions and matmuls that read it as their
// data, with constant filters. 0 if there are none.
int64_t MostOutputs(const ir::Graph& graph, const ir::Node& node) {
  int64_t most = 0;
  for (const ir::InputPort& use : node.uses(0)) {
    const ir::Node& user = graph.node(use.node);
    const TensorValue* filter = user.num_inputs() > 1 ? ConstantF32(graph, user.input(1)) : nullptr;
    if (filter == nullptr || use.index != 0 || filter->rank() < 2) continue;
    const Shape& extents = filter->shape();
    if (user.Is(ir::Contraction::kMatMul))
      most = std::max(most, user.Bool("transpose_b") ? extents[extents.size() - 2] : extents.back());
    if (user.Is(ir::Contraction::kConvolution)) most = std::max(most, extents[0]);
    if (user.Is(ir::Contraction::kGroupConvolution) || user.Is(ir::Contraction::kConvolutionBackpropData))
      most = std::max(most, extents[1]);
  }
  return most;
}

// Returns 0 if the shape is unknown.
int64_t VolumeOf(const ir::Node& node) {
  const std::optional<Shape> shape = node.output().shape.extents();
  return shape ? Volume(*shape).value_or(0) : 0;
}

// The results for each element of a product that takes much more time than a quantization in its own step.
constexpr int64_t kManyOutputs = 32;

// Returns the moves after a quantization, one chain for each of its readers, all before a convolution or
// matmul and together of at most half more elements than it has; nothing otherwise. A quantization that is
// part of the step of a product takes more time in its own, so that the consumers must have many products.
std::vector<MoveChain> MovesAfter(const ir::Graph& graph, const ir::Node& quantize) {
  const int64_t least_outputs = ProductBefore(graph, quantize) != nullptr ? kManyOutputs : 1;
  std::vector<MoveChain> all;
  const int64_t volume = VolumeOf(quantize);
  if (volume == 0) return {};
  const int64_t more = volume / 2;
  int64_t rest = volume;
  for (const ir::InputPort& use : quantize.uses(0)) {
    const std::optional<MoveChain> moves = MovesFrom(graph, use);
    if (!moves || MostOutputs(graph, graph.node(moves->last)) < least_outputs) return {};
    const int64_t moved = VolumeOf(graph.node(moves->last));
    if (moved == 0 || moved - more > rest) return {};
    rest -= moved;
    all.push_back(*moves);
  }
  return all;
}

// The range of the elements of a value that consists of moved results of quantizations.
struct MovedRange {
  float low, high;
  bool has_move = false;  // whether they do not stay quantized
};

// Returns whether the quantization of 0 is 0.
bool KeepsZeros(const MovedRange& range) {
  constexpr float kSlack = 1e-4F;
  const float zero = -range.low / (range.high - range.low) * (ir::ops::kQuantizedValues - 1);
  return range.low <= 0 && range.high >= 0 && std::abs(zero - std::nearbyint(zero)) < kSlack;
}

// Returns the range of a value if all its elements are results of quantizations with the same range, or zeros
// of a border. `steps` limits the nodes that are visited.
std::optional<MovedRange> RangeOfMoved(const ir::Graph& graph, ir::OutputPort port, int& steps) {
  if (steps-- == 0) return std::nullopt;
  const ir::Node& node = graph.node(port.node);
  if (node.Is(ir::Quantizer::kFakeQuantize)) {
    const std::vector<float> limits = LimitsOf(graph, node);
    if (node.Int("levels") != ir::ops::kQuantizedValues || limits.size() != 4 || !(limits[2] < limits[3]))
      return std::nullopt;
    return MovedRange{.low = limits[2], .high = limits[3]};
  }
  if (node.Is(ir::Rearrangement::kConcat)) {
    std::optional<MovedRange> all;
    for (ir::OutputPort part : node.inputs()) {
      const std::optional<MovedRange> range = RangeOfMoved(graph, part, steps);
      if (!range || (all && (range->low != all->low || range->high != all->high))) return std::nullopt;
      const bool had_move = all && all->has_move;
      all = range;
      all->has_move |= had_move;
    }
    if (all) all->has_move |= !ir::ops::JoinsImages(graph, node);
    return all;
  }
  const bool is_move = RearrangesElements(graph, node), adds_zeros = AddsZeros(graph, node);
  if (node.num_outputs() != 1 || (!is_move && !adds_zeros && !node.Is(ir::OpRole::kView)))
    return std::nullopt;
  std::optional<MovedRange> range = RangeOfMoved(graph, node.input(0), steps);
  if (!range || (adds_zeros && !KeepsZeros(*range))) return std::nullopt;
  range->has_move |= is_move;
  return range;
}

// Adds a quantization of a value for all its readers.
void QuantizeValue(Graph& graph, ir::OutputPort value, llvm::ArrayRef<Port> limits, const Graph::Spec& spec) {
  std::vector<Port> inputs = {PortOf(graph, value)};
  llvm::append_range(inputs, limits);
  const Node made = graph.CreateNode("opset1.FakeQuantize", inputs, spec);
  ReplaceOutput(graph, value, made.ir().port());
  graph.Raw().SetOutputNames(value, {});
  Node(graph, made.id()).in_port(0).Connect(PortOf(graph, value));
}

// Adds a quantization of a moved value.
void QuantizeMoved(Graph& graph, ir::OutputPort moved, llvm::ArrayRef<float> limits,
                   const Graph::Spec& spec) {
  std::vector<Port> inputs;
  for (float limit : limits)
    inputs.push_back(graph.CreateConst(TensorValue::FromFloats({}, {limit}), spec.name).out_port(0));
  QuantizeValue(graph, moved, inputs, spec);
}

void QuantizeAfter(Graph& graph, const ir::Node& quantize) {
  const ir::Graph& ir = graph.ir();
  if (!quantize.Is(ir::Quantizer::kFakeQuantize) || quantize.Int("levels") != ir::ops::kQuantizedValues)
    return;
  const std::vector<float> limits = LimitsOf(ir, quantize);
  if (limits.empty()) return;
  // Copies: new nodes may move the nodes.
  const ir::OutputPort data = quantize.input(0);
  const Graph::Spec spec{
      .name = quantize.name(), .attributes = quantize.attributes(), .origin = quantize.origin()};
  for (const MoveChain& moves : MovesAfter(ir, quantize)) {
    QuantizeMoved(graph, ir.node(moves.last).port(), limits, spec);
    Node(graph, moves.first).in_port(0).Connect(PortOf(graph, data));
  }
}

// Quantizes a value again before products of many outputs if its elements were moved since.
void QuantizeAgain(Graph& graph, const ir::Node& moved) {
  const ir::Graph& ir = graph.ir();
  if (moved.num_outputs() != 1 || moved.info().is_source || MostOutputs(ir, moved) < kManyOutputs) return;
  int steps = 32;
  const std::optional<MovedRange> range = RangeOfMoved(ir, moved.port(), steps);
  if (!range || !range->has_move) return;
  Graph::Spec spec{.name = moved.name(), .origin = moved.origin()};
  spec.attributes.Set("levels", ir::ops::kQuantizedValues);
  QuantizeMoved(graph, moved.port(), {range->low, range->high, range->low, range->high}, spec);
}

// Returns whether a quantization never maps a greater number to a smaller one, and has the same limits for
// all elements of a channel.
bool IsMonotonicInChannels(const ir::Graph& graph, const ir::Node& quantize) {
  const std::optional<Shape> data = graph.output(quantize.input(0)).shape.extents();
  if (!data || data->size() < 3 || quantize.String("auto_broadcast") == "pdpd") return false;
  const size_t rank = data->size();
  for (int32_t i = 1; i < quantize.num_inputs(); ++i) {
    const TensorValue* limits = ConstantF32(graph, quantize.input(i));
    if (limits == nullptr || limits->shape().size() > rank) return false;
    const llvm::ArrayRef<int64_t> extents = limits->shape();
    const size_t spatial = std::min(extents.size(), rank - 2);
    if (llvm::any_of(extents.take_back(spatial), [](int64_t extent) { return extent != 1; })) return false;
  }
  const auto are_ascending = [&](int32_t low, int32_t high, bool can_be_equal) {
    const TensorValue &lows = *ConstantF32(graph, quantize.input(low)),
                      &highs = *ConstantF32(graph, quantize.input(high));
    const int64_t count = std::max(lows.volume(), highs.volume());
    if (lows.volume() != highs.volume() && std::min(lows.volume(), highs.volume()) != 1) return false;
    for (int64_t i = 0; i < count; ++i) {
      const double from = lows.ElementAsDouble(lows.volume() == 1 ? 0 : i);
      const double to = highs.ElementAsDouble(highs.volume() == 1 ? 0 : i);
      if (!(can_be_equal ? from <= to : from < to) || !std::isfinite(from) || !std::isfinite(to))
        return false;
    }
    return true;
  };
  return are_ascending(1, 2, false) && are_ascending(3, 4, true);
}

// Returns whether each window of a MaxPool has an element of the data: the maximum of none is not quantized.
bool HasElementInEachWindow(const ir::Node& pool) {
  const std::vector<int64_t> kernel = pool.Ints("kernel"), before = pool.Ints("pads_begin", kernel.size()),
                             after = pool.Ints("pads_end", kernel.size());
  if (llvm::any_of(pool.Ints("dilations", kernel.size()), [](int64_t dilation) { return dilation != 1; }))
    return false;
  if (pool.String("auto_pad") != "explicit") return true;
  for (size_t i = 0; i < kernel.size(); ++i) {
    if (before[i] >= kernel[i] || after[i] >= kernel[i]) return false;
  }
  return pool.String("rounding_type") == "floor";
}

// Moves a quantization to the results of its only reader, a MaxPool. Its data has two or more readers: it is
// neither part of the step before nor reads quantized values.
void QuantizeMaxima(Graph& graph, const ir::Node& quantize) {
  const ir::Graph& ir = graph.ir();
  if (!quantize.Is(ir::Quantizer::kFakeQuantize) || quantize.uses(0).size() != 1) return;
  const ir::OutputPort data = quantize.input(0);
  if (ir.node(data.node).uses(data.index).size() < 2 || ir.node(data.node).Is(ir::Quantizer::kFakeQuantize))
    return;
  const ir::Node& pool = ir.node(quantize.uses(0)[0].node);
  if (!pool.Is(ir::Pooling::kMax) || (pool.num_outputs() > 1 && !pool.uses(1).empty()) ||
      !HasElementInEachWindow(pool) || !IsMonotonicInChannels(ir, quantize))
    return;
  const int64_t volume = VolumeOf(quantize), pooled = VolumeOf(pool);
  if (pooled == 0 || pooled > volume / 2) return;
  // Copies: new nodes may move the nodes.
  const ir::NodeId id = pool.id();
  std::vector<Port> limits;
  for (int32_t i = 1; i < quantize.num_inputs(); ++i) limits.push_back(PortOf(graph, quantize.input(i)));
  const Graph::Spec spec{
      .name = quantize.name(), .attributes = quantize.attributes(), .origin = quantize.origin()};
  QuantizeValue(graph, pool.port(), limits, spec);
  Node(graph, id).in_port(0).Connect(PortOf(graph, data));
}

}  // namespace

class QuantizeAfterMoves : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "A quantization with one range before reshapes, transposes and parts of the data of a convolution "
           "or matmul runs after them, so that the consumer reads quantized values. It stays where it is "
           "part of the step of another convolution or matmul, and the consumer has few outputs. If it has "
           "other readers as well, it is repeated before a consumer of many outputs.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,4,2]} : f32[1,4,2]
%1 = opset1.Const "low" : f32[] = dense<f32[]: 0.0>
%2 = opset1.Const "high" : f32[] = dense<f32[]: 255.0>
%3 = opset1.FakeQuantize "q" (%0, %1, %2, %1, %2) {levels = 256} : f32[1,4,2]
%4 = opset1.Const "order" : i64[3] = dense<i64[3]: 0, 2, 1>
%5 = opset1.Transpose "t" (%3, %4) : f32[1,2,4]
%6 = opset1.Const "w" : f32[4,1] = dense<f32[4,1]: 1.0, 2.0, 3.0, 4.0>
%7 = opset1.MatMul "m" (%5, %6) : f32[1,2,1]
opset1.Result "y" (%7)
)";
  }
  Names RunAfter() const override { return {"target.RemoveQuantizationAfterMoves", "TargetStart"}; }
  Names RunBefore() const override { return {"target.QuantizeChannelsEqually", "TargetFinish"}; }
  void FindAndReplacePattern(Graph& graph) override {
    for (ir::NodeId id : graph.Order()) QuantizeAfter(graph, graph.ir().node(id));
    for (ir::NodeId id : graph.Order()) QuantizeAgain(graph, graph.ir().node(id));
    graph.CleanUp();
  }
};

class QuantizeAfterMaxPool : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "A quantization before a MaxPool of fewer results runs after it, where other operations read the "
           "same values without quantization: it keeps the order of numbers.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,2,4,4]} : f32[1,2,4,4]
%1 = opset1.Const "low" : f32[] = dense<f32[]: 0.0>
%2 = opset1.Const "high" : f32[] = dense<f32[]: 255.0>
%3 = opset1.FakeQuantize "q" (%0, %1, %2, %1, %2) {levels = 256} : f32[1,2,4,4]
%4 = opset1.MaxPool "p" (%3) {strides = [2, 2], pads_begin = [0, 0], pads_end = [0, 0], kernel = [2, 2]} : f32[1,2,2,2]
%5 = opset1.ReLU "a" (%0) : f32[1,2,4,4]
opset1.Result "y" (%4)
opset1.Result "z" (%5)
)";
  }
  Names RunAfter() const override { return {"target.RemoveQuantizationAfterMoves", "TargetStart"}; }
  Names RunBefore() const override { return {"target.QuantizeAfterMoves", "TargetFinish"}; }
  void FindAndReplacePattern(Graph& graph) override {
    for (ir::NodeId id : graph.Order()) QuantizeMaxima(graph, graph.ir().node(id));
    graph.CleanUp();
  }
};

void RegisterQuantizationAfterMoves(TransformationList& list) {
  list.Add<target::QuantizeAfterMaxPool>();
  list.Add<target::QuantizeAfterMoves>();
}

}  // namespace nnefc::transform::target

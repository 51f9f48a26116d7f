// Quantizations before moves of matmul and convolution operands.

#include <algorithm>
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

// Returns the moves after a quantization, one chain for each of its readers, all before a convolution or
// matmul and together of at most half more elements than it has; nothing otherwise. A quantization that is
// part of the step of a product takes more time in its own, so that the consumers must have many products.
std::vector<MoveChain> MovesAfter(const ir::Graph& graph, const ir::Node& quantize) {
  constexpr int64_t kManyOutputs = 32;
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
    const ir::OutputPort moved = ir.node(moves.last).port();
    std::vector<Port> inputs = {PortOf(graph, moved)};
    for (float limit : limits)
      inputs.push_back(graph.CreateConst(TensorValue::FromFloats({}, {limit}), spec.name).out_port(0));
    const Node made = graph.CreateNode("opset1.FakeQuantize", inputs, spec);
    ReplaceOutput(graph, moved, made.ir().port());
    graph.Raw().SetOutputNames(moved, {});
    Node(graph, made.id()).in_port(0).Connect(PortOf(graph, moved));
    Node(graph, moves.first).in_port(0).Connect(PortOf(graph, data));
  }
}

}  // namespace

class QuantizeAfterMoves : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "A quantization with one range before reshapes, transposes and parts of the data of a convolution "
           "or matmul runs after them, so that the consumer reads quantized values. It stays where it is "
           "part of the step of another convolution or matmul, and the consumer has few outputs.";
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
    graph.CleanUp();
  }
};

void RegisterQuantizationAfterMoves(TransformationList& list) {
  list.Add<target::QuantizeAfterMoves>();
}

}  // namespace nnefc::transform::target

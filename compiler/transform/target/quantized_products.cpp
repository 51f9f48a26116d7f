// Marks on matmuls of two tensors whose values are quantized to 8 bits, as in attention, and on recurrent
// layers with such data.

#include <cmath>
#include <string_view>
#include <utility>

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/target/quantizations.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::target {

namespace {

// Returns whether the results of a node are elements of its first input.
bool MovesElements(const ir::Node& node) {
  switch (node.info().rearrangement) {
    case ir::Rearrangement::kBroadcast:
    case ir::Rearrangement::kReshape:
    case ir::Rearrangement::kSlice:
    case ir::Rearrangement::kSplit:
    case ir::Rearrangement::kTile:
    case ir::Rearrangement::kTranspose:
      return true;
    default:
      return node.Is(ir::OpRole::kView);
  }
}

// Returns whether a node is a cell or a sequence of cells with its data as first input.
bool IsRecurrent(const ir::Node& node) {
  constexpr std::pair<std::string_view, std::string_view> kLayers[] = {
      {"opset1", "LSTMCell"},     {"opset4", "LSTMCell"},    {"opset3", "GRUCell"},    {"opset1", "RNNCell"},
      {"opset5", "LSTMSequence"}, {"opset5", "GRUSequence"}, {"opset5", "RNNSequence"}};
  return llvm::any_of(kLayers, [&](const auto& layer) { return node.Is(layer.first, layer.second); });
}

// Returns the quantization whose results are the elements of a value, or nothing.
std::optional<ir::ops::LinearQuantization> QuantizationBefore(const ir::Graph& graph, ir::OutputPort port) {
  constexpr int kMaxMoves = 16;
  for (int step = 0; step < kMaxMoves; ++step) {
    const ir::Node& node = graph.node(port.node);
    if (IsQuantization(node)) return RangeOf(graph, node);
    if (!MovesElements(node)) return std::nullopt;
    port = node.input(0);
  }
  return std::nullopt;
}

double ElementsIn(llvm::ArrayRef<int64_t> shape) {
  return static_cast<double>(Volume(shape).value_or(0));
}

// Returns whether a matmul takes less time in 8 bits, with the quantization of both operands in its step, or
// times are unknown.
bool IsFasterIn8Bits(const ir::Node& node, llvm::ArrayRef<int64_t> left, llvm::ArrayRef<int64_t> right,
                     const ir::StepTimes* times) {
  if (times == nullptr) return true;
  const std::optional<Shape> result = node.output().shape.extents();
  if (!result || times->tensor_product == nullptr) return false;
  const auto time = [&](bool is_quantized) {
    return times->tensor_product(node, left, right, *result, is_quantized);
  };
  return time(true) + (ElementsIn(left) + ElementsIn(right)) * times->quantize < time(false);
}

std::optional<ir::ops::QuantizedOperands> OperandsIn8Bits(const ir::Graph& graph, const ir::Node& node,
                                                          const ir::StepTimes* times) {
  const bool is_attention = graph.registry().Find("opset13", "ScaledDotProductAttention") == node.op();
  if (!is_attention && !node.Is(ir::Contraction::kMatMul)) return std::nullopt;
  const std::optional<Shape> left = graph.output(node.input(0)).shape.extents(),
                             right = graph.output(node.input(1)).shape.extents();
  if (!left || !right || left->size() < 2 || right->size() < 2) return std::nullopt;
  const bool is_transposed = !is_attention && node.Bool("transpose_a");
  if (left->end()[is_transposed ? -2 : -1] > ir::ops::kMaxQuantizedTerms) return std::nullopt;
  const std::optional<ir::ops::LinearQuantization> first = QuantizationBefore(graph, node.input(0));
  const std::optional<ir::ops::LinearQuantization> second = QuantizationBefore(graph, node.input(1));
  if (!first || !second || !std::isnormal(first->scale * second->scale)) return std::nullopt;
  const bool is_faster = is_attention ? times == nullptr || times->tensor_product != nullptr
                                      : IsFasterIn8Bits(node, *left, *right, times);
  if (!is_faster) return std::nullopt;
  return ir::ops::QuantizedOperands{.left = {.scale = first->scale, .zero = first->zero},
                                    .right = {.scale = second->scale, .zero = second->zero}};
}

}  // namespace

class MarkQuantizedProducts : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "Matmuls of two tensors are marked if the elements of both are results of 8-bit quantizations and "
           "the matmul takes less time in 8 bits, by the times that the backend states, if any. Only "
           "transposes, slices and other operations that move elements may be between them. Attention is "
           "marked if its queries and keys are such results, and recurrent layers if their data are.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[64,64]} : f32[64,64]
%1 = opset1.Parameter "y" {element_type = f32, shape = shape[64,64]} : f32[64,64]
%2 = opset1.Const "low" : f32[] = dense<f32[]: 0.0>
%3 = opset1.Const "high" : f32[] = dense<f32[]: 255.0>
%4 = opset1.FakeQuantize "p" (%0, %2, %3, %2, %3) {levels = 256} : f32[64,64]
%5 = opset1.FakeQuantize "q" (%1, %2, %3, %2, %3) {levels = 256} : f32[64,64]
%6 = opset1.MatMul "m" (%4, %5) : f32[64,64]
opset1.Result "z" (%6)
)";
  }
  Names RunAfter() const override {
    return {"target.FuseChannelPermutations",      "target.QuantizeChannelsEqually", "target.RoundZeroPoints",
            "target.RemoveQuantizationAfterMoves", "target.TransposeLeftOperands",   "TargetStart"};
  }
  Names RunBefore() const override { return {"target.MarkQuantizedValues", "TargetFinish"}; }
  void FindAndReplacePattern(Graph& graph) override {
    const ir::StepTimes* times = graph.plan() == nullptr ? nullptr : graph.plan()->times;
    for (ir::NodeId id : graph.ir().nodes()) {
      const ir::Node& node = graph.ir().node(id);
      if (IsRecurrent(node)) {
        const std::optional<ir::ops::LinearQuantization> data = QuantizationBefore(graph.ir(), node.input(0));
        if (data && std::isnormal(data->scale))
          ir::ops::MarkQuantizedData(graph.Raw(), id, {.scale = data->scale, .zero = data->zero});
      } else if (const auto operands = OperandsIn8Bits(graph.ir(), node, times)) {
        ir::ops::MarkQuantizedOperands(graph.Raw(), id, *operands);
      }
    }
  }
};

void RegisterQuantizedProducts(TransformationList& list) {
  list.Add<target::MarkQuantizedProducts>();
}

}  // namespace nnefc::transform::target

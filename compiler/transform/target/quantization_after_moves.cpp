// Quantizations before transposes of matmul and convolution operands.

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/target/quantizations.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::target {

namespace {

// Returns the last of the views and transposes that follow a node one after another, each the only consumer
// of the one before; null if there is no transpose among them.
const ir::Node* LastMoveAfter(const ir::Graph& graph, const ir::Node& node) {
  const ir::Node* last = &node;
  bool has_transpose = false;
  while (last->uses(0).size() == 1 && last->uses(0)[0].index == 0) {
    const ir::Node& user = graph.node(last->uses(0)[0].node);
    const bool is_transpose = user.Is(ir::Rearrangement::kTranspose);
    if (!is_transpose && !user.Is(ir::OpRole::kView)) break;
    has_transpose = has_transpose || is_transpose;
    last = &user;
  }
  return has_transpose ? last : nullptr;
}

// Returns whether a convolution or matmul reads a value as its data, and a constant filter.
bool HasProductConsumer(const ir::Graph& graph, const ir::Node& node) {
  return llvm::any_of(node.uses(0), [&](const ir::InputPort& use) {
    const ir::Node& user = graph.node(use.node);
    const bool is_product =
        user.Is(ir::Contraction::kConvolution) || user.Is(ir::Contraction::kGroupConvolution) ||
        user.Is(ir::Contraction::kConvolutionBackpropData) || user.Is(ir::Contraction::kMatMul);
    return is_product && use.index == 0 && ConstantF32(graph, user.input(1)) != nullptr;
  });
}

// Returns whether a value is computed from the result of a convolution or matmul by functions of elements,
// so that its quantization becomes part of that step.
bool IsAfterProduct(const ir::Graph& graph, ir::OutputPort port) {
  constexpr int kMaxSteps = 8;
  for (int step = 0; step < kMaxSteps; ++step) {
    const ir::Node& node = graph.node(port.node);
    if (node.info().contraction != ir::Contraction::kNone) return true;
    if (node.info().function == ir::ElementFunction::kOther || node.uses(port.index).size() != 1)
      return false;
    const bool is_first_constant = node.num_inputs() > 1 && graph.output(node.input(0)).value;
    port = node.input(is_first_constant ? 1 : 0);
  }
  return false;
}

void QuantizeAfter(Graph& graph, const ir::Node& quantize) {
  const ir::Graph& ir = graph.ir();
  if (!quantize.Is(ir::Quantizer::kFakeQuantize) || quantize.Int("levels") != ir::ops::kQuantizedValues)
    return;
  const std::vector<float> limits = LimitsOf(ir, quantize);
  const ir::Node* last = limits.empty() ? nullptr : LastMoveAfter(ir, quantize);
  if (last == nullptr || !HasProductConsumer(ir, *last) || IsAfterProduct(ir, quantize.input(0))) return;
  // Copies: new nodes may move the nodes.
  const ir::OutputPort moved = last->port(), data = quantize.input(0);
  const ir::NodeId first = quantize.uses(0)[0].node;
  const Graph::Spec spec{
      .name = quantize.name(), .attributes = quantize.attributes(), .origin = quantize.origin()};
  std::vector<Port> inputs = {PortOf(graph, moved)};
  for (float limit : limits)
    inputs.push_back(graph.CreateConst(TensorValue::FromFloats({}, {limit}), spec.name).out_port(0));
  const Node made = graph.CreateNode("opset1.FakeQuantize", inputs, spec);
  ReplaceOutput(graph, moved, made.ir().port());
  Node(graph, made.id()).in_port(0).Connect(PortOf(graph, moved));
  Node(graph, first).in_port(0).Connect(PortOf(graph, data));
}

}  // namespace

class QuantizeAfterMoves : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "A quantization with one range before reshapes and transposes of the data of a convolution or "
           "matmul runs after them, so that the consumer reads quantized values. It stays where it is part "
           "of "
           "the step of another convolution or matmul.";
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

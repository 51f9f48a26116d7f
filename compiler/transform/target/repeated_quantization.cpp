// Quantizations that can be avoided, or done earlier.

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/target/quantizations.h"
#include "compiler/transform/values.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::target {

namespace {

void QuantizeParts(Graph& graph, const ir::Node& quantize) {
  const ir::Graph& ir = graph.ir();
  const Node joined(graph, quantize.input(0).node);
  const bool is_known = IsOperation(Node(graph, quantize.id()), "opset1", "FakeQuantize") &&
                        IsOperation(joined, "opset1", "Concat");
  if (!is_known || joined.ir().uses(0).size() != 1 || IsResult(ir, quantize) ||
      !ir::ops::JoinsImages(ir, joined.ir()))
    return;
  const auto is_quantized = [&](ir::OutputPort part) { return RangeOf(ir, ir.node(part.node)).has_value(); };
  if (!llvm::all_of(joined.ir().inputs(), is_quantized)) return;
  std::vector<Port> inputs;
  for (ir::OutputPort port : quantize.inputs()) inputs.push_back(PortOf(graph, port));
  for (const Port& part : joined.in_ports()) {
    inputs[0] = part.GetSource();
    const Node quantized = graph.CreateNode(
        "opset1.FakeQuantize", inputs,
        {.name = quantize.name(), .attributes = quantize.attributes(), .origin = quantize.origin()});
    Port input = part;
    input.Connect(quantized.out_port(0));
  }
  ReplaceOutput(graph, quantize.port(), joined.ir().port());
}

void SkipIfRepeated(Graph& graph, const ir::Node& node) {
  const ir::Graph& ir = graph.ir();
  if (!Repeats(ir, ir.node(node.input(0).node), node) || IsResult(ir, node)) return;
  graph.ReplaceAllUses(PortOf(graph, node.port()), PortOf(graph, node.input(0)));
}

// A quantization whose consumers accept quantized values is only skipped after views of row-major values,
// which stay quantized.
void SkipIfRepeatedAfterMoves(Graph& graph, const ir::Node& node) {
  const ir::Graph& ir = graph.ir();
  const ir::Node& moved = ir.node(node.input(0).node);
  const ir::Node* before = &moved;
  while (before->Is(ir::OpRole::kView) || before->Is(ir::Rearrangement::kTranspose))
    before = &ir.node(before->input(0).node);
  if (!Repeats(ir, *before, node) || IsResult(ir, node)) return;
  const bool stays_quantized =
      ir::ops::SkipViews(ir, moved).id() == before->id() && ir::ops::AreRowMajor(ir, *before);
  if (HasQuantizedConsumer(ir, node) && !stays_quantized) return;
  graph.ReplaceAllUses(PortOf(graph, node.port()), PortOf(graph, node.input(0)));
}

}  // namespace

class QuantizeConcatParts : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "The quantization of a Concat of quantized images moves to its parts, so that they are joined in "
           "quantized form.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,2,4,4]} : f32[1,2,4,4]
%1 = opset1.Const "zero" : f32[] = dense<f32[]: 0.0>
%2 = opset1.Const "one" : f32[] = dense<f32[]: 255.0>
%3 = opset1.Const "two" : f32[] = dense<f32[]: 510.0>
%4 = opset1.MaxPool "p" (%0) {strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], kernel = [2, 2]} : f32[1,2,3,3]
%5 = opset1.FakeQuantize "q" (%4, %1, %2, %1, %2) {levels = 256} : f32[1,2,3,3]
%6 = opset1.Concat "c" (%5, %5) {axis = 1} : f32[1,4,3,3]
%7 = opset1.FakeQuantize "r" (%6, %1, %3, %1, %3) {levels = 256} : f32[1,4,3,3]
%8 = opset1.ReLU "a" (%7) : f32[1,4,3,3]
opset1.Result "y" (%8)
)";
  }
  Names RunAfter() const override { return {"target.TransposeLeftOperands", "TargetStart"}; }
  void FindAndReplacePattern(Graph& graph) override {
    ForEachQuantization(graph, [&](const ir::Node& node) { QuantizeParts(graph, node); });
  }
};

class RemoveRepeatedQuantization : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "A quantization of values that are already quantized to its range is removed.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,4]} : f32[1,4]
%1 = opset1.Const "low" : f32[] = dense<f32[]: 0.0>
%2 = opset1.Const "high" : f32[] = dense<f32[]: 255.0>
%3 = opset1.FakeQuantize "q" (%0, %1, %2, %1, %2) {levels = 256} : f32[1,4]
%4 = opset1.FakeQuantize "r" (%3, %1, %2, %1, %2) {levels = 256} : f32[1,4]
%5 = opset1.ReLU "a" (%4) : f32[1,4]
opset1.Result "y" (%5)
)";
  }
  Names RunAfter() const override { return {"target.QuantizeConcatParts", "TargetStart"}; }
  void FindAndReplacePattern(Graph& graph) override {
    ForEachQuantization(graph, [&](const ir::Node& node) { SkipIfRepeated(graph, node); });
  }
};

class RemoveQuantizationAfterMoves : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "A quantization is removed if its values are already quantized to its range and only moved since: "
           "reshaped or transposed. It stays if its consumers accept quantized values that the moves do not "
           "preserve.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,4]} : f32[1,4]
%1 = opset1.Const "low" : f32[] = dense<f32[]: 0.0>
%2 = opset1.Const "high" : f32[] = dense<f32[]: 255.0>
%3 = opset1.FakeQuantize "q" (%0, %1, %2, %1, %2) {levels = 256} : f32[1,4]
%4 = opset1.Const "order" : i64[2] = dense<i64[2]: 1, 0>
%5 = opset1.Transpose "t" (%3, %4) : f32[4,1]
%6 = opset1.FakeQuantize "r" (%5, %1, %2, %1, %2) {levels = 256} : f32[4,1]
%7 = opset1.ReLU "a" (%6) : f32[4,1]
opset1.Result "y" (%7)
)";
  }
  Names RunAfter() const override { return {"target.InsertLookupTables", "TargetStart"}; }
  void FindAndReplacePattern(Graph& graph) override {
    ForEachQuantization(graph, [&](const ir::Node& node) { SkipIfRepeatedAfterMoves(graph, node); });
  }
};

void RegisterRepeatedQuantization(TransformationList& list) {
  list.Add<target::QuantizeConcatParts>();
  list.Add<target::RemoveRepeatedQuantization>();
  list.Add<target::RemoveQuantizationAfterMoves>();
}

}  // namespace nnefc::transform::target

// Removal of operations that return their input unchanged.

#include <cmath>

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/values.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::middle {

namespace {

bool AreAll(const Port& port, int64_t value) {
  const auto ints = KnownInts(port);
  return ints && llvm::all_of(*ints, [&](int64_t item) { return item == value; });
}

// Returns true if the output has the type and the known shape of the first input.
bool KeepsShapeAndType(const Node& node) {
  const ir::Output& in = node.in_port(0).data();
  const ir::Output& out = node.ir().output();
  return in.shape.known() && in.shape == out.shape && in.type == out.type;
}

}  // namespace

class RemoveIdentity : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "Removes views of the same extents, Convert to the same type, Transpose that keeps the order of "
           "axes, Pad by nothing, Tile by one, Broadcast to what is there, Split into one, Concat of one, "
           "and "
           "x * 1, x / 1 and x - 0. Not x + 0, which makes 0 of -0.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[2,3]} : f32[2,3]
%1 = opset1.ReLU "r" (%0) : f32[2,3]
%2 = opset1.Convert "c" (%1) {destination_type = f32} : f32[2,3]
opset1.Result "y" (%2)
)";
  }
  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& node : graph.GetNodes()) {
      if (!node.exists() || !IsIdentity(node)) continue;
      if (graph.Bypass(node.out_port(0), node.in_port(0).GetSource())) graph.Remove(node);
    }
  }

 private:
  static bool IsIdentity(const Node& node) {
    if (node.num_in_ports() == 0 || node.num_out_ports() != 1 || !KeepsShapeAndType(node)) return false;
    const ir::Node& ir = node.ir();
    if (ir.Is(ir::OpRole::kView) || ir.Is(ir::ElementFunction::kConvert)) return true;
    const auto has_number = [&](double number) { return KnownNumber(node.in_port(1)) == number; };
    if (ir.Is(ir::ElementFunction::kMultiply) || ir.Is(ir::ElementFunction::kDivide)) return has_number(1);
    if (ir.Is(ir::ElementFunction::kSubtract))
      return has_number(0) && !std::signbit(*KnownNumber(node.in_port(1)));
    return IsIdleLayout(node);
  }

  static bool IsIdleLayout(const Node& node) {
    switch (node.ir().info().rearrangement) {
      case ir::Rearrangement::kBroadcast:
      case ir::Rearrangement::kSplit:
        return true;  // since the shapes are equal
      case ir::Rearrangement::kConcat:
        return node.num_in_ports() == 1;
      case ir::Rearrangement::kPad:
        return IsIdlePad(node);
      case ir::Rearrangement::kTile:
        return AreAll(node.in_port(1), 1);
      case ir::Rearrangement::kTranspose:
        return IsIdleTranspose(node);
      default:
        return false;
    }
  }
  static bool IsIdleTranspose(const Node& node) {
    const auto order = KnownOrder(node);
    return order && !order->empty() && KeepsAxes(*order);
  }
  static bool IsIdlePad(const Node& node) { return AreAll(node.in_port(1), 0) && AreAll(node.in_port(2), 0); }
};

class FuseTransposesSequence : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override { return "Two Transpose in a row become one."; }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[2,3,4]} : f32[2,3,4]
%1 = opset1.Const "a" : i64[3] = dense<i64[3]: 1, 2, 0>
%2 = opset1.Transpose "t" (%0, %1) : f32[3,4,2]
%3 = opset1.Const "b" : i64[3] = dense<i64[3]: 0, 2, 1>
%4 = opset1.Transpose "u" (%2, %3) : f32[3,2,4]
opset1.Result "y" (%4)
)";
  }
  Names RunBefore() const override { return {"middle.RemoveIdentity", "MiddleFinish"}; }

 protected:
  Pattern GetPattern() const override {
    return {.nodes = {Op("first", "opset.Transpose"), Op("second", "opset.Transpose")},
            .edges = {{"first", "second", {0}}}};
  }
  void ReplacePattern(Graph& graph, const Match& match) override {
    const Node first = match["first"];
    const Node second = match["second"];
    const auto inner = KnownOrder(first);
    const auto outer = KnownOrder(second);
    if (!inner || !outer || inner->empty() || outer->size() != inner->size()) return;
    std::vector<int64_t> order;
    for (int64_t axis : *outer) order.push_back((*inner)[static_cast<size_t>(axis)]);
    const auto rank = static_cast<int64_t>(order.size());
    const Node constant = graph.CreateConst(TensorValue::FromInts({rank}, order), second.name() + "/order");
    second.in_port(0).Connect(first.in_port(0).GetSource());
    second.in_port(1).Connect(constant.out_port(0));
  }
};

class FuseReshapesSequence : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "Two views in a row, of extents that are known, become one.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[2,3]} : f32[2,3]
%1 = opset1.Const "a" : i64[1] = dense<i64[1]: 6>
%2 = opset1.Reshape "v" (%0, %1) {special_zero = false} : f32[6]
%3 = opset1.Const "b" : i64[1] = dense<i64[1]: 0>
%4 = opset1.Unsqueeze "w" (%2, %3) : f32[1,6]
opset1.Result "y" (%4)
)";
  }
  Names RunBefore() const override { return {"middle.RemoveIdentity", "MiddleFinish"}; }

  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& second : graph.GetNodes()) {
      if (!second.exists() || !second.ir().Is(ir::OpRole::kView)) continue;
      const Node first = second.in_node(0);
      const ir::PartialShape& shape = second.ir().output().shape;
      if (!first.ir().Is(ir::OpRole::kView) || !shape.known()) continue;
      TakePlace(graph, second, MakeView(graph, first.in_port(0).GetSource(), shape, second));
      graph.Remove(second);
    }
  }

 private:
  // Creates the view of a tensor that replaces `replaced`. One of rank 0 is a Squeeze: OpenVINO's CPU plug-in
  // ends the process for a Reshape to rank 0 after a MatMul.
  static Node MakeView(Graph& graph, const Port& source, const ir::PartialShape& shape,
                       const Node& replaced) {
    const ir::PartialShape& viewed = source.node().ir().output(source.index()).shape;
    const bool squeezes = shape.rank() == 0 && viewed.rank_known() && viewed.rank() > 0;
    std::vector<int64_t> items;
    for (ir::Dim dim : shape.dims()) items.push_back(dim.value());
    for (int64_t axis = 0; squeezes && axis < viewed.rank(); ++axis) items.push_back(axis);
    const auto count = static_cast<int64_t>(items.size());
    const Node list = graph.CreateConst(TensorValue::FromInts({count}, items),
                                        replaced.name() + (squeezes ? "/axes" : "/shape"));
    Graph::Spec spec{.origin = replaced.ir().origin()};
    if (!squeezes) spec.attributes.Set("special_zero", false);
    return graph.CreateNode(squeezes ? "opset1.Squeeze" : "opset1.Reshape", {source, list.out_port(0)},
                            std::move(spec));
  }
};

void RegisterIdentities(TransformationList& list) {
  list.Add<RemoveIdentity>();
  list.Add<FuseTransposesSequence>();
  list.Add<FuseReshapesSequence>();
}

}  // namespace nnefc::transform::middle

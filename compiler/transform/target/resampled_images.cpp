// Resampling of images with the channels last, between transposes from and to those of convolutions.

#include <algorithm>

#include "compiler/ir/ops/windows/resized_axis.h"
#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/target/quantizations.h"
#include "compiler/transform/values.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::target {

namespace {

// Minimum channels: one block of the layout nChw16c, whose kernel is the reason.
constexpr int64_t kMinResampledChannels = 16;

using Axes = std::vector<int64_t>;

// Returns the order of a Transpose of a tensor of this rank; nothing for other nodes and unknown orders.
std::optional<Axes> OrderOf(const Node& node, size_t rank) {
  if (!node.ir().Is(ir::Rearrangement::kTranspose)) return std::nullopt;
  const std::optional<Axes> order = KnownOrder(node);
  return order && order->size() == rank ? order : std::nullopt;
}

// Returns whether a node quantizes by the same limits in each order of the axes.
bool QuantizesInAnyOrder(const Graph& graph, const Node& node, size_t rank) {
  if (!IsQuantization(node.ir())) return false;
  for (int32_t i = 1; i < node.num_in_ports(); ++i) {
    const TensorValue* limit = ConstantNumber(graph.ir(), node.ir().input(i));
    if (limit == nullptr || static_cast<size_t>(limit->rank()) > rank) return false;
  }
  return true;
}

// Lets an Interpolate read the tensor before a transpose if the transpose after it, or after a quantization
// of its result, restores the order. `axes_input` is the input with its axes.
void Resample(Graph& graph, const Node& resize, int32_t axes_input) {
  if (resize.num_in_ports() <= axes_input || ir::ops::HasPads(resize.ir())) return;
  const std::optional<Shape> shape = resize.out_port(0).shape().extents();
  const std::optional<Axes> axes = KnownInts(resize.in_port(axes_input));
  std::optional<Port> reader = OnlyDestination(resize.out_port(0));
  if (!shape || !reader || reader->index() != 0 || !axes) return;
  Port result = resize.out_port(0);
  if (QuantizesInAnyOrder(graph, reader->node(), shape->size())) {
    result = reader->node().out_port(0);
    reader = OnlyDestination(result);
    if (!reader || reader->index() != 0) return;
  }
  const Node before = resize.in_node(0), after = reader->node();
  const std::optional<Axes> first = OrderOf(before, shape->size()), second = OrderOf(after, shape->size());
  if (!first || !second) return;
  Axes moved, restored;
  for (const int64_t axis : *axes) {
    const int64_t rank = static_cast<int64_t>(first->size());
    moved.push_back((*first)[static_cast<size_t>(axis < 0 ? axis + rank : axis)]);
  }
  for (const int64_t axis : *second) restored.push_back((*first)[static_cast<size_t>(axis)]);
  // Kernels for images need the axes in order.
  if (!KeepsAxes(restored) || !llvm::is_sorted(moved)) return;
  const std::optional<Shape> images = before.in_port(0).shape().extents();
  if (!images || images->size() < 3 || (*images)[1] < kMinResampledChannels) return;
  resize.in_port(0).Connect(before.in_port(0).GetSource());
  resize.in_port(axes_input).Connect(MakeInts(graph, resize, "/axes", moved));
  graph.ReplaceAllUses(after.out_port(0), result);
}

}  // namespace

class ResampleImages : public TargetReplacementPattern {
 public:
  ResampleImages() { force_clean_up = true; }
  std::string_view Description() const override {
    return "Interpolate between a transpose and its inverse reads the tensor before them, as in models of "
           "TensorFlow Lite, whose images have the channels last. Its result may be quantized in between.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,16,2,3]} : f32[1,16,2,3]
%1 = opset1.Const "to" : i64[4] = dense<i64[4]: 0, 2, 3, 1>
%2 = opset1.Transpose "t" (%0, %1) : f32[1,2,3,16]
%3 = opset1.Const "sizes" : i64[2] = dense<i64[2]: 4, 6>
%4 = opset1.Const "axes" : i64[2] = dense<i64[2]: 1, 2>
%5 = opset11.Interpolate "i" (%2, %3, %4) {mode = "nearest", shape_calculation_mode = "sizes"} : f32[1,4,6,16]
%6 = opset1.Const "back" : i64[4] = dense<i64[4]: 0, 3, 1, 2>
%7 = opset1.Transpose "u" (%5, %6) : f32[1,16,4,6]
opset1.Result "y" (%7)
)";
  }
  Names RunAfter() const override { return {"TargetStart"}; }
  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& node : graph.GetOpNodes("opset4.Interpolate")) Resample(graph, node, 3);
    for (const Node& node : graph.GetOpNodes("opset11.Interpolate")) Resample(graph, node, 2);
  }
};

void RegisterResampledImages(TransformationList& list) {
  list.Add<target::ResampleImages>();
}

}  // namespace nnefc::transform::target

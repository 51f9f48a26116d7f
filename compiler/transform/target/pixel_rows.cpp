// Images as matrices with a row for each pixel, as transformers have them between convolutions.

#include <optional>
#include <vector>

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/values.h"

namespace nnefc::transform::target {

namespace {

using Axes = std::vector<int64_t>;

// Returns whether a node transposes the matrices of a tensor [N, rows, columns].
bool TransposesMatrices(const Node& node) {
  if (!node.ir().Is(ir::Rearrangement::kTranspose)) return false;
  const std::optional<Axes> order = KnownOrder(node);
  return order && *order == Axes{0, 2, 1};
}

// Returns the extents of an image [N, C, H, W] if the other shape is that of its planes, [N, C, H * W].
std::optional<Shape> ImageOf(const ir::PartialShape& image, const ir::PartialShape& planes) {
  const std::optional<Shape> whole = image.extents(), flat = planes.extents();
  if (!whole || !flat || whole->size() != 4 || flat->size() != 3) return std::nullopt;
  if ((*whole)[0] != (*flat)[0] || (*whole)[1] != (*flat)[1]) return std::nullopt;
  return whole;
}

Port Transposed(Graph& graph, const Node& whole, const Port& port, llvm::ArrayRef<int64_t> order) {
  return MakePart(graph, whole, "/transposed", "opset1.Transpose",
                  {port, MakeInts(graph, whole, "/order", order)});
}
Port Reshaped(Graph& graph, const Node& whole, const Port& port, llvm::ArrayRef<int64_t> shape) {
  return MakePart(graph, whole, "/reshaped", "opset1.Reshape",
                  {port, MakeInts(graph, whole, "/shape", shape)});
}

// Replaces a Transpose of [N, pixels, C] and a Reshape to [N, C, H, W] by a Reshape and a Transpose. Returns
// whether it did.
bool MakeImage(Graph& graph, const Node& transpose) {
  const std::optional<Port> reader = OnlyDestination(transpose.out_port(0));
  if (!reader || reader->index() != 0 || !reader->node().ir().Is(ir::Rearrangement::kReshape)) return false;
  const Node reshape = reader->node();
  const std::optional<Shape> image = ImageOf(reshape.out_port(0).shape(), transpose.out_port(0).shape());
  if (!image) return false;
  const Shape& extents = *image;
  const Port pixels = Reshaped(graph, reshape, transpose.in_port(0).GetSource(),
                               {extents[0], extents[2], extents[3], extents[1]});
  TakePlace(graph, reshape, Transposed(graph, reshape, pixels, {0, 3, 1, 2}).node());
  return true;
}

// Replaces a Reshape of [N, C, H, W] and a Transpose to [N, pixels, C] by a Transpose and a Reshape.
void MakeRows(Graph& graph, const Node& transpose) {
  const Node reshape = transpose.in_node(0);
  if (!reshape.ir().Is(ir::Rearrangement::kReshape) || !OnlyDestination(reshape.out_port(0))) return;
  if (!ImageOf(reshape.in_port(0).shape(), reshape.out_port(0).shape())) return;
  const Shape rows = *transpose.out_port(0).shape().extents();
  const Port pixels = Transposed(graph, transpose, reshape.in_port(0).GetSource(), {0, 2, 3, 1});
  TakePlace(graph, transpose, Reshaped(graph, transpose, pixels, rows).node());
}

}  // namespace

class TransposePixelRows : public TargetReplacementPattern {
 public:
  TransposePixelRows() { force_clean_up = true; }
  std::string_view Description() const override {
    return "A Transpose between matrices of pixels and planes moves to the other side of the Reshape that "
           "makes images of them. It is then one between NHWC and NCHW, which blocks of channels make cheap.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,6,4]} : f32[1,6,4]
%1 = opset1.Const "order" : i64[3] = dense<i64[3]: 0, 2, 1>
%2 = opset1.Transpose "t" (%0, %1) : f32[1,4,6]
%3 = opset1.Const "shape" : i64[4] = dense<i64[4]: 1, 4, 2, 3>
%4 = opset1.Reshape "r" (%2, %3) {special_zero = false} : f32[1,4,2,3]
opset1.Result "y" (%4)
)";
  }
  Names RunAfter() const override { return {"TargetStart"}; }
  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& node : graph.GetOpNodes("opset1.Transpose")) {
      if (TransposesMatrices(node) && !MakeImage(graph, node)) MakeRows(graph, node);
    }
  }
};

void RegisterPixelRows(TransformationList& list) {
  list.Add<target::TransposePixelRows>();
}

}  // namespace nnefc::transform::target

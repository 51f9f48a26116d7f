// Products of parts of a tensor with the same matrix, such as those of an unrolled loop with its inputs.

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/values.h"

namespace nnefc::transform::target {

namespace {

// A matmul of a part of a tensor at an index along an axis.
struct PartProduct {
  Node product, gather;
};
// The source of the parts, the matrix, whether that is transposed, and the axis.
using ProductKey = std::tuple<ir::NodeId, int32_t, ir::NodeId, int32_t, bool, int64_t>;

class PartProducts {
 public:
  explicit PartProducts(Graph& graph) : graph_(graph) {}

  void Run() {
    std::map<ProductKey, std::vector<PartProduct>> groups;
    std::vector<ProductKey> order;
    for (const Node& node : graph_.GetNodes()) {
      const std::optional<int64_t> axis = AxisOfPart(node);
      if (!axis) continue;
      const Node gather = node.in_port(0).GetSource().node();
      const Port source = gather.in_port(0).GetSource(), matrix = node.in_port(1).GetSource();
      const ProductKey key{source.node().id(),
                           source.index(),
                           matrix.node().id(),
                           matrix.index(),
                           node.ir().Bool("transpose_b"),
                           *axis};
      if (groups[key].empty()) order.push_back(key);
      groups[key].push_back({node, gather});
    }
    for (const ProductKey& key : order) Multiply(groups[key], std::get<int64_t>(key));
  }

 private:
  // Returns the axis of the index if a node multiplies the part of a tensor at a constant index by a matrix;
  // nothing for other nodes, and if the matrix is multiplied along this axis.
  std::optional<int64_t> AxisOfPart(const Node& node) const {
    const ir::Node& ir = node.ir();
    if (!ir.Is(ir::Contraction::kMatMul) || ir.Bool("transpose_a") ||
        node.out_port(0).data().type != ElementType::kF32)
      return std::nullopt;
    const Node gather = node.in_port(0).GetSource().node();
    if (!gather.ir().Is(ir::Rearrangement::kGather) || gather.ir().Int("batch_dims") != 0)
      return std::nullopt;
    const std::optional<std::vector<int64_t>> indices = KnownInts(gather.in_port(1)),
                                              axes = KnownInts(gather.in_port(2));
    const std::optional<Shape> source = gather.in_port(0).shape().extents(),
                               matrix = node.in_port(1).shape().extents();
    if (!indices || indices->size() != 1 || !axes || axes->size() != 1 || !source || !matrix)
      return std::nullopt;
    const auto rank = static_cast<int64_t>(source->size());
    const int64_t axis = axes->front() + (axes->front() < 0 ? rank : 0);
    // The last axis is multiplied, also of a part without the axis of the index.
    constexpr int64_t kMatrixRank = 2;
    if (axis < 0 || axis + 1 >= rank || matrix->size() != kMatrixRank) return std::nullopt;
    return axis;
  }

  // Multiplies the whole tensor and gathers parts of the result, if most of its rows are used.
  void Multiply(const std::vector<PartProduct>& parts, int64_t axis) {
    const Node &first = parts.front().product, &gather = parts.front().gather;
    const Port source = gather.in_port(0).GetSource();
    const int64_t extent = source.shape().known_extents()[static_cast<size_t>(axis)];
    constexpr int64_t kUsedQuarters = 3, kQuarters = 4;
    const auto count = static_cast<int64_t>(parts.size());
    if (count < 2 || kQuarters * count < kUsedQuarters * extent) return;
    Graph::Spec spec{.name = first.name() + "/all", .attributes = first.ir().attributes()};
    spec.origin = first.ir().origin();
    const Port all =
        graph_.CreateNode("opset1.MatMul", {source, first.in_port(1).GetSource()}, spec).out_port(0);
    const Port along = graph_.CreateConst(TensorValue::FromInts({}, {axis}), spec.name + "/axis").out_port(0);
    for (const PartProduct& part : parts) {
      const Graph::Spec named{.name = part.product.name(), .origin = part.product.ir().origin()};
      const Port index = part.gather.in_port(1).GetSource();
      TakePlace(graph_, part.product, graph_.CreateNode("opset8.Gather", {all, index, along}, named));
      graph_.Remove(part.product);
    }
  }

  Graph& graph_;
};

}  // namespace

class MultiplyBeforeGathers : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "Products of parts of a tensor with the same matrix, such as those of an unrolled loop, become "
           "parts of one product, which reads the matrix once.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[2,1,3]} : f32[2,1,3]
%1 = opset1.Const "w" : f32[3,2] = dense<f32[3,2]: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0>
%2 = opset1.Const "zero" : i64[] = dense<i64[]: 0>
%3 = opset1.Const "one" : i64[] = dense<i64[]: 1>
%4 = opset8.Gather "first" (%0, %2, %2) : f32[1,3]
%5 = opset8.Gather "second" (%0, %3, %2) : f32[1,3]
%6 = opset1.MatMul "a" (%4, %1) : f32[1,2]
%7 = opset1.MatMul "b" (%5, %1) : f32[1,2]
%8 = opset1.Add "sum" (%6, %7) : f32[1,2]
opset1.Result "y" (%8)
)";
  }
  Names RunAfter() const override { return {"TargetStart"}; }
  Names RunBefore() const override {
    return {"target.ConvertVectorsToMatrices",
            "target.TransposeLeftOperands",
            "target.QuantizeAfterMoves",
            "target.RemoveRepeatedQuantization",
            "target.MarkQuantizedProducts",
            "target.MarkQuantizedValues",
            "TargetFinish"};
  }
  void FindAndReplacePattern(Graph& graph) override { PartProducts(graph).Run(); }
};

void RegisterPartProducts(TransformationList& list) {
  list.Add<target::MultiplyBeforeGathers>();
}

}  // namespace nnefc::transform::target

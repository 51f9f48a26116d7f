// Fusion of attention from the elementary operations that frameworks export.

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/values.h"

namespace nnefc::transform::middle {

class AttentionFusion : public MiddleReplacementPattern {
 public:
  AttentionFusion() { force_clean_up = true; }
  std::string_view Description() const override {
    return "softmax(q * k^T * scale + mask) * v becomes "
           "ScaledDotProductAttention; scale and mask need not "
           "be there, and the scale may be a factor of q or k instead. There may be several masks, and "
           "between them the axes of the batch may be grouped otherwise. A factor of q or k of an "
           "attention goes into its scale.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "q" {element_type = f32, shape = shape[2,3,4]} : f32[2,3,4]
%1 = opset1.Parameter "k" {element_type = f32, shape = shape[2,5,4]} : f32[2,5,4]
%2 = opset1.Parameter "v" {element_type = f32, shape = shape[2,5,6]} : f32[2,5,6]
%3 = opset1.MatMul "scores" (%0, %1) {transpose_b = true} : f32[2,3,5]
%4 = opset1.Const "scale" : f32[] = dense<f32[]: 0.5>
%5 = opset1.Multiply "scaled" (%3, %4) : f32[2,3,5]
%6 = opset8.SoftMax "weights" (%5) {axis = 2} : f32[2,3,5]
%7 = opset1.MatMul "out" (%6, %2) : f32[2,3,6]
opset1.Result "y" (%7)
)";
  }
  void FindAndReplacePattern(Graph& graph) override {
    for (const char* set : {"opset1.SoftMax", "opset8.SoftMax"}) {
      for (const Node& softmax : graph.GetOpNodes(set)) {
        if (softmax.exists()) Fuse(graph, softmax);
      }
    }
    for (const Node& attention : graph.GetOpNodes("opset13.ScaledDotProductAttention"))
      TakeScaleOfFactors(graph, attention);
  }

 private:
  // An added mask, and the shape of its scores.
  struct Mask {
    Port added;
    ir::PartialShape scores;
  };
  struct Scores {
    llvm::SmallVector<Mask, 2> masks = {};
    double scale = 1;
    Node product;
  };

  static void Fuse(Graph& graph, const Node& softmax) {
    const std::optional<Port> reader = OnlyDestination(softmax.out_port(0));
    const ir::PartialShape& shape = softmax.out_port(0).shape();
    if (!reader || reader->index() != 0 || !IsProduct(reader->node()) || !shape.rank_known()) return;
    const Node last = reader->node();
    const int64_t axis = softmax.ir().Int("axis");
    if (shape.rank() < 3 || (axis != shape.rank() - 1 && axis != -1)) return;
    if (last.ir().Bool("transpose_a") || last.ir().Bool("transpose_b")) return;
    std::optional<Scores> scores = MatchScores(softmax.in_port(0).GetSource());
    if (!scores || scores->product.ir().Bool("transpose_a")) return;
    if (!(scores->product.out_port(0).shape() == shape)) return;
    for (const Mask& mask : scores->masks) {
      if (!(mask.scores == shape) && !GroupsOf(mask, shape)) return;
    }
    Port q = TakeScale(scores->product.in_port(0).GetSource(), scores->scale);
    std::optional<Port> k = scores->product.in_port(1).GetSource();
    if (scores->product.ir().Bool("transpose_b")) k = TakeScale(*k, scores->scale);
    const Port v = last.in_port(1).GetSource();
    if (!HasRank(q, shape.rank()) || !HasRank(*k, shape.rank()) || !HasRank(v, shape.rank())) return;
    if (!scores->product.ir().Bool("transpose_b")) k = Untransposed(graph, *k, shape.rank());
    if (!k) return;
    const ir::Origin origin = last.ir().origin();
    const ElementType type = q.data().type;
    const auto number = [&](const char* name, double value) {
      return graph.CreateConst(TensorValue::Filled(type, {}, value), last.name() + name).out_port(0);
    };
    // A mask of rank 0 means no mask.
    std::optional<Port> mask;
    for (const Mask& each : scores->masks) {
      const Port added = each.scores == shape ? each.added : Regrouped(graph, each, shape, last);
      mask = mask ? MakePart(graph, last, "/mask", "opset1.Add", {*mask, added}) : added;
    }
    if (!mask) mask = number("/mask", 0);
    const Node made =
        graph.CreateNode("opset13.ScaledDotProductAttention",
                         {q, *k, v, *mask, number("/scale", scores->scale)}, {.origin = origin});
    TakePlace(graph, last, made);
  }

  static bool IsProduct(const Node& node) { return IsOperation(node, "opset1", "MatMul"); }
  static bool HasRank(const Port& port, int64_t rank) {
    return port.shape().rank_known() && port.shape().rank() == rank;
  }

  // Matches the scores below added masks and a scalar multiplication.
  static std::optional<Scores> MatchScores(const Port& output) {
    Node node = output.node();
    if (!OnlyDestination(output)) return std::nullopt;
    if (IsProduct(node)) return Scores{.product = node};
    if (IsOperation(node, "opset1", "Reshape")) {
      return KeepsRows(node) ? MatchScores(node.in_port(0).GetSource()) : std::nullopt;
    }
    if (!node.ir().Is(ir::ElementFunction::kAdd)) return MatchScaled(output);
    for (int32_t i : {0, 1}) {
      const Port masked = node.in_port(i).GetSource();
      if (!OnlyDestination(masked) || !(masked.shape() == output.shape())) continue;
      std::optional<Scores> scores = MatchScores(masked);
      if (!scores) continue;
      const Port mask = node.in_port(1 - i).GetSource();
      if (KnownNumber(node.in_port(1 - i)) == 0) return scores;
      // A mask of rank 0 would mean no mask, and OpenVINO rejects rank 1.
      if (!mask.shape().rank_known() || mask.shape().rank() < 2) return std::nullopt;
      scores->masks.push_back({mask, output.shape()});
      return scores;
    }
    return std::nullopt;
  }
  // Returns whether a Reshape preserves the last two axes.
  static bool KeepsRows(const Node& reshape) {
    const std::optional<Shape> from = reshape.in_port(0).GetSource().shape().extents();
    const std::optional<Shape> to = reshape.out_port(0).shape().extents();
    return from && to && from->size() > 2 && to->size() > 2 &&
           llvm::ArrayRef<int64_t>(*from).take_back(2) == llvm::ArrayRef<int64_t>(*to).take_back(2);
  }

  // Shapes of a mask whose batch axes are grouped differently.
  struct MaskGroups {
    Shape broadcast;  // shape of the mask before regrouping
    Shape grouped;    // shape after regrouping
  };
  // Returns the shapes for regrouping a mask to the batch axes of `scores`. Each smallest group of axes with
  // the same number of elements must be either entirely in the mask or broadcast. Returns nothing for unknown
  // shapes.
  static std::optional<MaskGroups> GroupsOf(const Mask& mask, const ir::PartialShape& scores) {
    const std::optional<Shape> own = mask.added.shape().extents();
    const std::optional<Shape> from = mask.scores.extents(), to = scores.extents();
    if (!own || !from || !to || own->size() > from->size() || Volume(*from).value_or(0) == 0)
      return std::nullopt;
    Shape extents(from->size() - own->size(), 1);
    extents.append(own->begin(), own->end());
    const size_t from_end = from->size() - 2, to_end = to->size() - 2;
    MaskGroups groups;
    for (size_t i = 0, j = 0; i < from_end || j < to_end;) {
      const size_t i_begin = i, j_begin = j;
      int64_t count = i < from_end ? (*from)[i++] : 1, to_count = j < to_end ? (*to)[j++] : 1;
      while (count != to_count) {
        if (count < to_count ? i == from_end : j == to_end) return std::nullopt;
        (count < to_count ? count : to_count) *= count < to_count ? (*from)[i++] : (*to)[j++];
      }
      bool has_all = false;
      for (size_t axis = i_begin; axis < i; ++axis) has_all |= extents[axis] != 1;
      for (size_t axis = i_begin; axis < i; ++axis) groups.broadcast.push_back(has_all ? (*from)[axis] : 1);
      for (size_t axis = j_begin; axis < j; ++axis) groups.grouped.push_back(has_all ? (*to)[axis] : 1);
    }
    for (Shape* shape : {&groups.broadcast, &groups.grouped}) shape->append(extents.end() - 2, extents.end());
    return groups;
  }
  static Port Regrouped(Graph& graph, const Mask& mask, const ir::PartialShape& scores, const Node& last) {
    const MaskGroups groups = *GroupsOf(mask, scores);
    const auto shape_of = [&](const Shape& shape) { return MakeInts(graph, last, "/mask_shape", shape); };
    const Port whole =
        MakePart(graph, last, "/mask", "opset3.Broadcast", {mask.added, shape_of(groups.broadcast)});
    return MakePart(graph, last, "/mask", "opset1.Reshape", {whole, shape_of(groups.grouped)});
  }

  // Moves scalar factors of the operands of an existing attention into its scale.
  static void TakeScaleOfFactors(Graph& graph, const Node& attention) {
    if (attention.num_in_ports() < 5) return;
    const std::optional<double> given = KnownNumber(attention.in_port(4));
    if (!given) return;
    double scale = *given;
    for (int32_t i : {0, 1}) {
      const Port factor = attention.in_port(i).GetSource();
      const Port unscaled = TakeScale(factor, scale);
      if (!(unscaled == factor)) attention.in_port(i).GetConnection().SetSource(unscaled);
    }
    if (scale == *given) return;
    const TensorValue number = TensorValue::Filled(attention.in_port(4).data().type, {}, scale);
    const Node made = graph.CreateConst(number, graph.UniqueName(attention.name() + "/scale"));
    attention.in_port(4).GetConnection().SetSource(made.out_port(0));
  }

  static std::optional<Scores> MatchScaled(const Port& output) {
    if (!OnlyDestination(output)) return std::nullopt;
    double scale = 1;
    const Port product = TakeScale(output, scale);
    if (!IsProduct(product.node()) || !OnlyDestination(product)) return std::nullopt;
    return Scores{.scale = scale, .product = product.node()};
  }

  // Returns the operand of a scalar multiplication or division and multiplies `scale` by the scalar. Returns
  // the output itself if it is not such a node or has other consumers.
  static Port TakeScale(const Port& output, double& scale) {
    const Node node = output.node();
    const bool divides = node.ir().Is(ir::ElementFunction::kDivide);
    if ((!divides && !node.ir().Is(ir::ElementFunction::kMultiply)) || !OnlyDestination(output))
      return output;
    for (int32_t i : {1, 0}) {
      const std::optional<double> number = KnownNumber(node.in_port(i));
      if (!number || (divides && i == 0)) continue;
      const Port scaled = node.in_port(1 - i).GetSource();
      if (!(scaled.shape() == output.shape())) continue;
      scale = divides ? scale / *number : scale * *number;
      return scaled;
    }
    return output;
  }

  // Returns k for k^T without other consumers: the transposed tensor, or a transposition with the last two
  // axes swapped back.
  static std::optional<Port> Untransposed(Graph& graph, const Port& output, int64_t rank) {
    const Node node = output.node();
    if (!IsOperation(node, "opset1", "Transpose") || !OnlyDestination(output)) return std::nullopt;
    const std::optional<std::vector<int64_t>> known = KnownInts(node.in_port(1));
    if (!known || static_cast<int64_t>(known->size()) != rank) return std::nullopt;
    const std::vector<int64_t> order = WithLastAxesSwapped(*known);
    const Port source = node.in_port(0).GetSource();
    if (KeepsAxes(order)) return source;
    const Port axes = MakeInts(graph, node, "/order", order);
    return graph.CreateNode("opset1.Transpose", {source, axes}, {.origin = node.ir().origin()}).out_port(0);
  }
};

void RegisterAttentionFusion(TransformationList& list) {
  list.Add<middle::AttentionFusion>();
}

}  // namespace nnefc::transform::middle

#include "compiler/transform/middle/einsum.h"

#include <algorithm>

#include "compiler/ir/ops/opset/arithmetic/equation.h"
#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/values.h"

namespace nnefc::transform::middle {

namespace {

bool Has(std::string_view labels, char label) {
  return labels.find(label) != std::string_view::npos;
}

bool HasDuplicates(std::string_view labels) {
  for (size_t i = 0; i < labels.size(); ++i) {
    if (Has(labels.substr(i + 1), labels[i])) return true;
  }
  return false;
}

// The first of the characters that stand for the axes at `...`, and their number: no letter is among them.
constexpr char kFirstAxis = '\x01';
constexpr int64_t kMaxAxes = 'A' - kFirstAxis;

// Returns the labels with `...` replaced by `count` labels that no equation uses.
std::string ExpandEllipsis(std::string_view labels, int64_t count) {
  std::string expanded;
  for (char label : labels) {
    if (label != '.') {
      expanded += label;
      continue;
    }
    for (int64_t i = 0; i < count; ++i) expanded += static_cast<char>(kFirstAxis + i);
  }
  return expanded;
}

// The labels of a two-operand Einsum, classified for a matrix multiplication.
struct MatMulLabels {
  std::string left, right, result;
  // The labels of each role, in the order of the result or, for `contracted`, of the left operand.
  std::string batch, rows, columns, contracted;
  bool is_swapped = false;  // the second operand is on the left

  // Returns the roles of the labels; nothing if one has no role in a matrix multiplication, or if none is
  // contracted.
  static std::optional<MatMulLabels> Of(std::string_view left, std::string_view right,
                                        std::string_view result) {
    if (HasDuplicates(left) || HasDuplicates(right) || HasDuplicates(result)) return std::nullopt;
    MatMulLabels labels{
        .left = std::string(left), .right = std::string(right), .result = std::string(result)};
    const auto is_batch = [&](char c) { return Has(left, c) && Has(right, c); };
    const auto* first = std::find_if_not(result.begin(), result.end(), is_batch);
    if (first != result.end() && Has(right, *first)) {
      std::swap(labels.left, labels.right);
      labels.is_swapped = true;
    }
    for (char c : result)
      (is_batch(c) ? labels.batch : Has(labels.left, c) ? labels.rows : labels.columns) += c;
    for (char c : labels.left) {
      if (Has(result, c)) continue;
      if (!Has(labels.right, c)) return std::nullopt;
      labels.contracted += c;
    }
    const auto is_known = [&](char c) { return Has(result, c) || Has(labels.contracted, c); };
    if (labels.contracted.empty() || !std::all_of(labels.right.begin(), labels.right.end(), is_known))
      return std::nullopt;
    return labels;
  }

  // Returns whether rows, columns and contracted are one axis each, so that no Reshape is needed.
  bool HasPlainMatrices() const { return rows.size() == 1 && columns.size() == 1 && contracted.size() == 1; }
};

}  // namespace

class EinsumToMatMul : public MiddleReplacementPattern {
 public:
  EinsumToMatMul() { force_clean_up = true; }
  std::string_view Description() const override {
    return "Einsum of two operands becomes MatMul, with a Transpose if axes are in another order and a "
           "Reshape if several labels have the same role. Labels of both operands and the result are batch "
           "axes; labels of both operands that the result lacks are contracted. Several labels with the same "
           "role need known extents.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "q" {element_type = f32, shape = shape[2,5,3,4]} : f32[2,5,3,4]
%1 = opset1.Parameter "k" {element_type = f32, shape = shape[2,6,3,4]} : f32[2,6,3,4]
%2 = opset7.Einsum "scores" (%0, %1) {equation = "bihd,bjhd->bhij"} : f32[2,3,5,6]
opset1.Result "y" (%2)
)";
  }
  Names RunBefore() const override { return {"middle.AttentionFusion"}; }
  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& einsum : graph.GetOpNodes("opset7.Einsum")) {
      if (const std::optional<MatMulLabels> labels = LabelsOf(einsum)) Replace(graph, einsum, *labels);
    }
  }

 private:
  static std::optional<MatMulLabels> LabelsOf(const Node& einsum) {
    const std::optional<ir::ops::opset::Equation> equation =
        ir::ops::opset::ReadEquation(einsum.ir().String("equation"));
    if (einsum.num_in_ports() != 2 || !equation || equation->operands.size() != 2) return std::nullopt;
    std::string operands[2];
    int64_t num_ellipsis_axes[2] = {0, 0};
    for (int32_t i : {0, 1}) {
      const Port source = einsum.in_port(i).GetSource();
      const std::string& labels = equation->operands[static_cast<size_t>(i)];
      if (!source.shape().rank_known() || !IsFloat(source.data().type)) return std::nullopt;
      num_ellipsis_axes[i] =
          Has(labels, '.') ? source.shape().rank() + 1 - static_cast<int64_t>(labels.size()) : 0;
      if (num_ellipsis_axes[i] > kMaxAxes) return std::nullopt;
      operands[i] = ExpandEllipsis(labels, num_ellipsis_axes[i]);
    }
    // Axes at `...` of only one operand would be broadcast.
    if (num_ellipsis_axes[0] != num_ellipsis_axes[1] &&
        std::min(num_ellipsis_axes[0], num_ellipsis_axes[1]) > 0)
      return std::nullopt;
    std::optional<MatMulLabels> labels = MatMulLabels::Of(
        operands[0], operands[1],
        ExpandEllipsis(equation->result, std::max(num_ellipsis_axes[0], num_ellipsis_axes[1])));
    if (!labels || !HasEqualExtents(einsum, *labels)) return std::nullopt;
    return labels;
  }

  // Returns whether labels have equal extents: Einsum broadcasts an extent of 1 where MatMul rejects it, and
  // merged labels need known extents, whose product is a number of 64 bits.
  static bool HasEqualExtents(const Node& einsum, const MatMulLabels& labels) {
    const Port left = LeftOf(einsum, labels), right = RightOf(einsum, labels);
    if (!labels.HasPlainMatrices() && (!left.shape().volume() || !right.shape().volume())) return false;
    const auto is_equal = [&](char c) {
      const ir::Dim& of_left = left.shape()[static_cast<int64_t>(labels.left.find(c))];
      const ir::Dim& of_right = right.shape()[static_cast<int64_t>(labels.right.find(c))];
      return of_left.known() && of_right.known() && of_left == of_right;
    };
    return std::all_of(labels.contracted.begin(), labels.contracted.end(), is_equal) &&
           (labels.HasPlainMatrices() || std::all_of(labels.batch.begin(), labels.batch.end(), is_equal));
  }

  static Port LeftOf(const Node& einsum, const MatMulLabels& labels) {
    return einsum.in_port(labels.is_swapped ? 1 : 0).GetSource();
  }
  static Port RightOf(const Node& einsum, const MatMulLabels& labels) {
    return einsum.in_port(labels.is_swapped ? 0 : 1).GetSource();
  }

  static Port MakeTranspose(Graph& graph, const Node& einsum, const Port& port, std::string_view from,
                            std::string_view to) {
    if (from == to) return port;
    Shape order;
    for (char c : to) order.push_back(static_cast<int64_t>(from.find(c)));
    return MakePart(graph, einsum, "/transposed", "opset1.Transpose",
                    {port, MakeInts(graph, einsum, "/order", order)});
  }
  static Port MakeReshape(Graph& graph, const Node& einsum, const Port& port, const Shape& shape) {
    return MakePart(graph, einsum, "/matrices", "opset1.Reshape",
                    {port, MakeInts(graph, einsum, "/shape", shape)});
  }

  // An operand as a batch of matrices, or of their transposes.
  struct Matrices {
    Port port;
    bool is_transposed;
  };
  // Returns an operand as a batch of matrices of `rows` by `columns`, each of which may be several labels.
  static Matrices ReshapeToMatrices(Graph& graph, const Node& einsum, const Port& operand,
                                    const std::string& labels, const MatMulLabels& matmul,
                                    const std::string& rows, const std::string& columns) {
    const std::string transposed_order = matmul.batch + columns + rows;
    if (matmul.HasPlainMatrices() && labels == transposed_order) return {operand, true};
    const Port transposed = MakeTranspose(graph, einsum, operand, labels, matmul.batch + rows + columns);
    if (matmul.HasPlainMatrices()) return {transposed, false};
    const Shape extents = *transposed.shape().extents();
    Shape shape(extents.begin(), extents.begin() + static_cast<int64_t>(matmul.batch.size()));
    size_t axis = matmul.batch.size();
    for (const std::string* merged : {&rows, &columns}) {
      int64_t extent = 1;
      for (size_t i = 0; i < merged->size(); ++i) extent *= extents[axis++];
      shape.push_back(extent);
    }
    return {MakeReshape(graph, einsum, transposed, shape), false};
  }

  static void Replace(Graph& graph, const Node& einsum, const MatMulLabels& labels) {
    const Port left = LeftOf(einsum, labels), right = RightOf(einsum, labels);
    const Matrices a =
        ReshapeToMatrices(graph, einsum, left, labels.left, labels, labels.rows, labels.contracted);
    const Matrices b =
        ReshapeToMatrices(graph, einsum, right, labels.right, labels, labels.contracted, labels.columns);
    ir::AttributeMap attributes;
    attributes.Set("transpose_a", a.is_transposed);
    attributes.Set("transpose_b", b.is_transposed);
    Port matmul =
        MakePart(graph, einsum, "/product", "opset1.MatMul", {a.port, b.port}, std::move(attributes));
    const std::string order = labels.batch + labels.rows + labels.columns;
    if (!labels.HasPlainMatrices()) {
      Shape shape;
      for (char c : order) {
        const bool of_left = Has(labels.left, c);
        const size_t axis = (of_left ? labels.left : labels.right).find(c);
        shape.push_back((*(of_left ? left : right).shape().extents())[axis]);
      }
      matmul = MakeReshape(graph, einsum, matmul, shape);
    }
    TakePlace(graph, einsum, MakeTranspose(graph, einsum, matmul, order, labels.result).node());
  }
};

void ReplaceEinsums(Graph& graph) {
  EinsumToMatMul().FindAndReplacePattern(graph);
}

void RegisterEinsum(TransformationList& list) {
  list.Add<middle::EinsumToMatMul>();
}

}  // namespace nnefc::transform::middle

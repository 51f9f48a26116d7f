// Conversion of Einsum to matrix multiplication.

#include <algorithm>

#include "compiler/ir/ops/opset/equation.h"
#include "compiler/transform/standard.h"
#include "compiler/transform/values.h"

namespace nnefc::transform {
namespace middle {

namespace {

bool Has(std::string_view labels, char label) {
  return labels.find(label) != std::string_view::npos;
}

bool HasTwice(std::string_view labels) {
  for (size_t i = 0; i < labels.size(); ++i) {
    if (Has(labels.substr(i + 1), labels[i])) return true;
  }
  return false;
}

// Expands `...` into `count` labels that no equation uses.
std::string SpelledOut(std::string_view labels, int64_t count) {
  constexpr char kFirst = '\x01';
  std::string spelled;
  for (char label : labels) {
    if (label != '.') {
      spelled += label;
      continue;
    }
    for (int64_t i = 0; i < count; ++i) spelled += static_cast<char>(kFirst + i);
  }
  return spelled;
}

// The labels of a two-operand Einsum, classified for a matrix multiplication.
struct ProductLabels {
  std::string left, right, result;
  std::string batch, rows, columns, summed;
  bool is_swapped = false;  // left is the second operand

  // Returns nothing if a label has no role in a matrix multiplication.
  static std::optional<ProductLabels> Of(std::string_view left, std::string_view right,
                                         std::string_view result) {
    if (HasTwice(left) || HasTwice(right) || HasTwice(result)) return std::nullopt;
    ProductLabels labels{
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
      labels.summed += c;
    }
    const auto is_known = [&](char c) { return Has(result, c) || Has(labels.summed, c); };
    if (labels.summed.empty() || !std::all_of(labels.right.begin(), labels.right.end(), is_known))
      return std::nullopt;
    return labels;
  }

  // Returns whether rows, columns and summed are one axis each, so that no Reshape is needed.
  bool HasPlainMatrices() const { return rows.size() == 1 && columns.size() == 1 && summed.size() == 1; }
};

}  // namespace

class EinsumToMatMul : public MiddleReplacementPattern {
 public:
  EinsumToMatMul() { force_clean_up = true; }
  std::string_view Description() const override {
    return "Einsum of two operands becomes MatMul, with a Transpose and a Reshape where axes lie otherwise: "
           "labels of both operands and the result are its batch, labels of both alone are summed. "
           "Several labels of a kind need extents that are known.";
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
      if (const std::optional<ProductLabels> labels = LabelsOf(einsum)) Replace(graph, einsum, *labels);
    }
  }

 private:
  static std::optional<ProductLabels> LabelsOf(const Node& einsum) {
    const std::optional<ir::Equation> equation = ir::ReadEquation(einsum.ir().String("equation"));
    if (einsum.num_in_ports() != 2 || !equation || equation->operands.size() != 2) return std::nullopt;
    std::string operands[2];
    int64_t free[2] = {0, 0};
    for (int32_t i : {0, 1}) {
      const Port source = einsum.in_port(i).GetSource();
      const std::string& labels = equation->operands[static_cast<size_t>(i)];
      if (!source.shape().rank_known() || !IsFloat(source.data().type)) return std::nullopt;
      free[i] = Has(labels, '.') ? source.shape().rank() + 1 - static_cast<int64_t>(labels.size()) : 0;
      operands[i] = SpelledOut(labels, free[i]);
    }
    // Axes at `...` of only one operand would be broadcast.
    if (free[0] != free[1] && std::min(free[0], free[1]) > 0) return std::nullopt;
    std::optional<ProductLabels> labels =
        ProductLabels::Of(operands[0], operands[1], SpelledOut(equation->result, std::max(free[0], free[1])));
    if (!labels || !HasEqualExtents(einsum, *labels)) return std::nullopt;
    return labels;
  }

  // Returns whether labels have equal extents: Einsum broadcasts an extent of 1 where MatMul rejects it, and
  // merged labels need known extents.
  static bool HasEqualExtents(const Node& einsum, const ProductLabels& labels) {
    const Port left = LeftOf(einsum, labels), right = RightOf(einsum, labels);
    if (!labels.HasPlainMatrices() && (!left.shape().extents() || !right.shape().extents())) return false;
    const auto is_equal = [&](char c) {
      const ir::Dim& of_left = left.shape()[static_cast<int64_t>(labels.left.find(c))];
      const ir::Dim& of_right = right.shape()[static_cast<int64_t>(labels.right.find(c))];
      return of_left.known() && of_right.known() && of_left == of_right;
    };
    return std::all_of(labels.summed.begin(), labels.summed.end(), is_equal) &&
           (labels.HasPlainMatrices() || std::all_of(labels.batch.begin(), labels.batch.end(), is_equal));
  }

  static Port LeftOf(const Node& einsum, const ProductLabels& labels) {
    return einsum.in_port(labels.is_swapped ? 1 : 0).GetSource();
  }
  static Port RightOf(const Node& einsum, const ProductLabels& labels) {
    return einsum.in_port(labels.is_swapped ? 0 : 1).GetSource();
  }

  static Port Transposed(Graph& graph, const Node& einsum, const Port& port, std::string_view from,
                         std::string_view to) {
    if (from == to) return port;
    Shape order;
    for (char c : to) order.push_back(static_cast<int64_t>(from.find(c)));
    return MakePart(graph, einsum, "/transposed", "opset1.Transpose",
                    {port, MakeInts(graph, einsum, "/order", order)});
  }
  static Port Reshaped(Graph& graph, const Node& einsum, const Port& port, const Shape& shape) {
    return MakePart(graph, einsum, "/matrices", "opset1.Reshape",
                    {port, MakeInts(graph, einsum, "/shape", shape)});
  }

  // An operand reshaped to matrices of `rows` by `columns`; each may be several labels.
  struct Matrices {
    Port port;
    bool is_transposed;
  };
  static Matrices MatricesOf(Graph& graph, const Node& einsum, const Port& operand, const std::string& labels,
                             const ProductLabels& product, const std::string& rows,
                             const std::string& columns) {
    const std::string other_way = product.batch + columns + rows;
    if (product.HasPlainMatrices() && labels == other_way) return {operand, true};
    const Port moved = Transposed(graph, einsum, operand, labels, product.batch + rows + columns);
    if (product.HasPlainMatrices()) return {moved, false};
    const Shape extents = *moved.shape().extents();
    Shape shape(extents.begin(), extents.begin() + static_cast<int64_t>(product.batch.size()));
    size_t axis = product.batch.size();
    for (const std::string* merged : {&rows, &columns}) {
      int64_t extent = 1;
      for (size_t i = 0; i < merged->size(); ++i) extent *= extents[axis++];
      shape.push_back(extent);
    }
    return {Reshaped(graph, einsum, moved, shape), false};
  }

  static void Replace(Graph& graph, const Node& einsum, const ProductLabels& labels) {
    const Port left = LeftOf(einsum, labels), right = RightOf(einsum, labels);
    const Matrices a = MatricesOf(graph, einsum, left, labels.left, labels, labels.rows, labels.summed);
    const Matrices b = MatricesOf(graph, einsum, right, labels.right, labels, labels.summed, labels.columns);
    ir::AttributeMap attributes;
    attributes.Set("transpose_a", a.is_transposed);
    attributes.Set("transpose_b", b.is_transposed);
    Port product =
        MakePart(graph, einsum, "/product", "opset1.MatMul", {a.port, b.port}, std::move(attributes));
    const std::string made = labels.batch + labels.rows + labels.columns;
    if (!labels.HasPlainMatrices()) {
      Shape shape;
      for (char c : made) {
        const bool of_left = Has(labels.left, c);
        const size_t axis = (of_left ? labels.left : labels.right).find(c);
        shape.push_back((*(of_left ? left : right).shape().extents())[axis]);
      }
      product = Reshaped(graph, einsum, product, shape);
    }
    TakePlace(graph, einsum, Transposed(graph, einsum, product, made, labels.result).node());
  }
};

}  // namespace middle

void RegisterEinsum(TransformationList& list) {
  list.Add<middle::EinsumToMatMul>();
}

}  // namespace nnefc::transform

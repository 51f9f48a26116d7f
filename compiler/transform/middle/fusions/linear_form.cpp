// Values as sums of products with constant matrices.

#include "compiler/transform/middle/fusions/linear_form.h"

#include "compiler/transform/values.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::middle {

namespace {

// The maximum depth of nested sums.
constexpr int kDeepest = 16;

bool IsMatrix(const ir::PartialShape& shape) {
  return shape.rank_known() && shape.rank() == 2 && shape[1].known();
}

// Returns true if `axis` is the column axis of a matrix.
bool IsColumns(int64_t axis) {
  return axis == 1 || axis == -1;
}

class Reader {
 public:
  // Adds columns [first, first + rows) of an output to the form; returns false if they are not such a sum.
  bool Read(LinearForm& form, const Port& output, int64_t first, int64_t rows, int depth) {
    if (depth == kDeepest || !IsMatrix(output.shape()) || output.data().type != ElementType::kF32)
      return false;
    const Node node = output.node();
    if (node.ir().Is(ir::ElementFunction::kAdd)) return ReadSum(form, node, first, rows, depth);
    if (IsOperation(node, "opset1", "MatMul")) return ReadProduct(form, node, first, rows);
    const std::optional<int64_t> begin = BeginOfPart(output);
    if (!begin || !Read(form, node.in_port(0).GetSource(), *begin + first, rows, depth + 1)) return false;
    form.nodes.push_back(node);
    return true;
  }

 private:
  bool ReadSum(LinearForm& form, const Node& sum, int64_t first, int64_t rows, int depth) {
    form.nodes.push_back(sum);
    for (const Port& input : sum.in_ports()) {
      const Port source = input.GetSource();
      if (AddBias(form, source, first, rows)) continue;
      // Non-constant rows that are broadcast to the batch are not supported.
      if (!(source.shape() == sum.ir().output().shape)) return false;
      LinearForm tried = form;
      if (Read(tried, source, first, rows, depth + 1)) {
        form = std::move(tried);
      } else if (first == 0 && rows == source.shape()[1].value()) {
        form.others.push_back(source);
      } else {
        return false;
      }
    }
    return true;
  }

  // Adds a scalar, or one element per column.
  static bool AddBias(LinearForm& form, const Port& source, int64_t first, int64_t rows) {
    const std::optional<TensorValue>& value = source.value();
    if (!value || value->type() != ElementType::kF32 || value->rank() > 2) return false;
    if (value->rank() == 2 && value->shape()[0] != 1) return false;
    const bool is_number = value->volume() == 1;
    if (!is_number && (value->rank() == 0 || value->shape().back() < first + rows)) return false;
    for (int64_t i = 0; i < rows; ++i)
      form.bias[static_cast<size_t>(i)] +=
          static_cast<float>(value->ElementAsDouble(is_number ? 0 : first + i));
    return true;
  }

  bool ReadProduct(LinearForm& form, const Node& product, int64_t first, int64_t rows) {
    const std::optional<TensorValue>& matrix = product.in_port(1).value();
    const Port source = product.in_port(0).GetSource();
    if (!matrix || matrix->type() != ElementType::kF32 || matrix->rank() != 2 ||
        product.ir().Bool("transpose_a") || !IsMatrix(source.shape()))
      return false;
    form.nodes.push_back(product);
    const bool is_transposed = product.ir().Bool("transpose_b");
    const int64_t columns = matrix->shape()[is_transposed ? 1 : 0];
    const int64_t row_stride = is_transposed ? columns : 1;
    const int64_t column_stride = is_transposed ? 1 : matrix->shape()[1];
    const TensorValue aligned = matrix->Aligned(alignof(float));
    const auto elements = aligned.elements<float>();
    int64_t begin = 0;
    for (const Port& part : PartsOf(form, source)) {
      const int64_t width = part.shape()[1].value();
      std::vector<float>& weights = WeightsOf(form, part, rows * width);
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < width; ++j)
          weights[static_cast<size_t>(i * width + j)] +=
              elements[static_cast<size_t>((first + i) * row_stride + (begin + j) * column_stride)];
      }
      begin += width;
    }
    return begin == columns;
  }

  // Returns the operands of a concatenation along the columns, or the source itself.
  static std::vector<Port> PartsOf(LinearForm& form, const Port& source) {
    const Node node = source.node();
    if (!IsOperation(node, "opset1", "Concat") || !IsColumns(node.ir().Int("axis"))) return {source};
    std::vector<Port> parts;
    for (const Port& input : node.in_ports()) {
      parts.push_back(input.GetSource());
      if (!IsMatrix(parts.back().shape())) return {source};
    }
    form.nodes.push_back(node);
    return parts;
  }

  static std::vector<float>& WeightsOf(LinearForm& form, const Port& source, int64_t count) {
    for (LinearForm::Term& term : form.terms) {
      if (term.source == source) return term.weights;
    }
    form.terms.push_back({source, std::vector<float>(static_cast<size_t>(count), 0.0F)});
    return form.terms.back().weights;
  }

  // Returns the first column of an output that is a column range of its node's first input.
  static std::optional<int64_t> BeginOfPart(const Port& output) {
    const Node node = output.node();
    if (IsOperation(node, "opset8", "Slice")) {
      const auto number = [&](int32_t input) { return KnownNumber(node.in_port(input)); };
      if (node.num_in_ports() != 5 || number(3) != 1 || node.in_port(4).shape().volume() != 1)
        return std::nullopt;
      const std::optional<double> start = number(1), axis = number(4);
      if (!start || *start < 0 || !axis || !IsColumns(static_cast<int64_t>(*axis))) return std::nullopt;
      return static_cast<int64_t>(*start);
    }
    const bool is_split =
        IsOperation(node, "opset1", "Split") || IsOperation(node, "opset1", "VariadicSplit");
    if (!is_split) return std::nullopt;
    const std::optional<double> axis = KnownNumber(node.in_port(1));
    if (!axis || !IsColumns(static_cast<int64_t>(*axis))) return std::nullopt;
    int64_t begin = 0;
    for (int32_t i = 0; i < output.index(); ++i) {
      if (!IsMatrix(node.out_port(i).shape())) return std::nullopt;
      begin += node.out_port(i).shape()[1].value();
    }
    return begin;
  }
};

}  // namespace

std::optional<LinearForm> LinearForm::Of(const Port& output) {
  if (!IsMatrix(output.shape())) return std::nullopt;
  LinearForm form{.rows = output.shape()[1].value()};
  form.bias.assign(static_cast<size_t>(form.rows), 0.0F);
  if (!Reader().Read(form, output, 0, form.rows, 0) || form.terms.empty()) return std::nullopt;
  return form;
}

const std::vector<float>* LinearForm::TermOf(const Port& source) const {
  for (const Term& term : terms) {
    if (term.source == source) return &term.weights;
  }
  return nullptr;
}

void LinearForm::Negate() {
  for (float& element : bias) element = -element;
  for (Term& term : terms) {
    for (float& weight : term.weights) weight = -weight;
  }
}

}  // namespace nnefc::transform::middle

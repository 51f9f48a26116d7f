// Raising of OpenVINO's MatMul to NNEF's matmul or linear.

#include <algorithm>
#include <cctype>

#include "compiler/raise/node_raising.h"
#include "compiler/raise/table.h"

namespace nnefc::raise {

namespace {

// Returns the transpose of a constant matrix.
TensorValue Transposed(const TensorValue& matrix) {
  const int64_t rows = matrix.shape()[0];
  const int64_t columns = matrix.shape()[1];
  const TensorValue from = matrix.AlignedToElements();
  return TensorValue::Make<float>(ElementType::kF32, {columns, rows}, [&](std::span<float> to) {
    const llvm::ArrayRef<float> elements = from.elements<float>();
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j)
        to[static_cast<size_t>(j * rows + i)] = elements[static_cast<size_t>(i * columns + j)];
    }
  });
}

// matmul(x, w, transposeB = true) + bias with a constant matrix `w`.
void RaiseLinear(NodeRaising& n) {
  const TensorValue& weights = *n.Value(1);
  const OutputPort filter = n.ConstantInput(1, n.node().Bool("transpose_b") ? weights : Transposed(weights));
  std::vector<OutputPort> operands{n.input(0), filter};
  if (const std::optional<OutputPort> bias = n.AbsorbedBias())
    operands.push_back(*bias);
  else
    operands.push_back(n.Literal(0.0));
  n.SetOutput(n.Add("linear", operands));
}

// Returns an operand of MatMul with `rank` axes: a vector is a row (the first operand) or a column, and
// missing batch axes have the extent 1.
OutputPort Operand(NodeRaising& n, int32_t index, int64_t rank) {
  const nnefc::Shape shape = n.input_shape(index);
  nnefc::Shape extended(shape);
  if (shape.size() == 1) extended.insert(index == 0 ? extended.begin() : extended.end(), 1);
  extended.insert(extended.begin(), static_cast<size_t>(rank) - extended.size(), 1);
  if (extended == shape) return n.input(index);
  if (const TensorValue* value = n.Value(index)) return n.ConstantInput(index, value->Reshaped(extended));
  Integers axes;
  for (int64_t i = 0; i < rank - static_cast<int64_t>(std::max<size_t>(shape.size(), 2)); ++i)
    axes.push_back(i);
  if (shape.size() == 1) axes.push_back(index == 0 ? rank - 2 : rank - 1);
  return n.Unsqueeze(n.input(index), axes, fmt::format("operand_{}", index));
}

void RaiseMatMul(NodeRaising& n) {
  n.RequireScalars();
  const int64_t ranks[] = {n.input_rank(0), n.input_rank(1)};
  const bool is_matrix = ranks[0] == 2 && ranks[1] == 2;
  if (is_matrix && !n.node().Bool("transpose_a") && n.Value(1) != nullptr) return RaiseLinear(n);
  const int64_t rank = std::max<int64_t>(std::max(ranks[0], ranks[1]), 2);
  // Vectors are not transposed.
  const bool transpose_a = n.node().Bool("transpose_a") && ranks[0] > 1;
  const bool transpose_b = n.node().Bool("transpose_b") && ranks[1] > 1;
  const OutputPort product = n.Add("matmul", {Operand(n, 0, rank), Operand(n, 1, rank)},
                                   Attributes({{"transposeA", transpose_a}, {"transposeB", transpose_b}}));
  Integers axes;
  if (ranks[0] == 1) axes.push_back(rank - 2);
  if (ranks[1] == 1) axes.push_back(rank - 1);
  n.SetOutput(n.Squeeze(product, axes));
}

// Returns the labels of an implicit result: those that occur once, in alphabetical order.
std::string ImplicitResult(const std::string& operands) {
  std::string labels;
  for (const char letter : operands) {
    if (std::isalpha(static_cast<unsigned char>(letter)) != 0 &&
        std::count(operands.begin(), operands.end(), letter) == 1)
      labels += letter;
  }
  std::sort(labels.begin(), labels.end());
  return labels;
}

void RaiseEinsum(NodeRaising& n) {
  n.RequireScalars();
  std::string equation = n.node().String("equation");
  if (equation.find('.') != std::string::npos) n.Decline("its equation has an ellipsis");
  if (n.output_rank() == 0) n.Decline("its result is a scalar, and tract needs a label");
  if (equation.find("->") == std::string::npos) equation += "->" + ImplicitResult(equation);
  std::vector<OutputPort> inputs;
  inputs.reserve(static_cast<size_t>(n.num_inputs()));
  for (int32_t i = 0; i < n.num_inputs(); ++i) inputs.push_back(n.input(i));
  std::string expression;
  for (const char letter : equation) {
    if (letter != ' ') expression += letter;
  }
  n.SetOutput(
      n.Add("tract_core_einsum", inputs, Attributes({{"expr", expression}, {"acc", "f32"}, {"output", ""}})));
}

}  // namespace

std::vector<RaiseEntry> MatmulEntries() {
  return {{"MatMul", RaiseMatMul}, {"Einsum", RaiseEinsum, /*is_of_tract=*/true}};
}

}  // namespace nnefc::raise

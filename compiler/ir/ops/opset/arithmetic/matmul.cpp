// Shape inference and operation counts of OpenVINO's MatMul and Inverse.

#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir::ops::opset {

namespace {

// A matrix operand after transposition; rank 1 is a row on the left and a column on the right.
struct Operand {
  llvm::SmallVector<Dim, 4> batch;
  Dim rows, columns;
  bool is_vector = false;
};

Operand ReadOperand(const PartialShape& shape, bool transposed, bool is_left) {
  Operand operand;
  const int64_t rank = shape.rank();
  if (rank == 1) {
    operand.is_vector = true;
    operand.rows = is_left ? Dim(1) : shape[0];
    operand.columns = is_left ? shape[0] : Dim(1);
    return operand;
  }
  for (int64_t i = 0; i < rank - 2; ++i) operand.batch.push_back(shape[i]);
  operand.rows = shape[rank - (transposed ? 1 : 2)];
  operand.columns = shape[rank - (transposed ? 2 : 1)];
  return operand;
}

// MatMul-1: batch extents broadcast; the unit axis of a vector is removed again.
void InferMatMul(OpContext& op) {
  const ElementType type = op.CommonType(0, 2);
  if (!op.shape(0).rank_known() || !op.shape(1).rank_known()) return op.Set(type, PartialShape());
  const Operand a = ReadOperand(op.shape(0), op.Bool("transpose_a"), true);
  const Operand b = ReadOperand(op.shape(1), op.Bool("transpose_b"), false);
  if (!a.columns.Compatible(b.rows)) {
    op.Error(kOpsetExtent, "`MatMul` of {}{} and {}{}: the inner extents differ", ToString(op.shape(0)),
             op.Bool("transpose_a") ? " transposed" : "", ToString(op.shape(1)),
             op.Bool("transpose_b") ? " transposed" : "");
    return;
  }
  const std::optional<PartialShape> batch = BroadcastNumpy(PartialShape(a.batch), PartialShape(b.batch));
  if (!batch) {
    op.Error(kOpsetBroadcast, "the batch extents of {} and {} do not broadcast", ToString(op.shape(0)),
             ToString(op.shape(1)));
    return;
  }
  llvm::SmallVector<Dim, 4> dims(batch->dims().begin(), batch->dims().end());
  if (!a.is_vector) dims.push_back(a.rows);
  if (!b.is_vector) dims.push_back(b.columns);
  op.Set(type, PartialShape(dims));
}

// Inverse-14: the inputs are square matrices.
void InferInverse(OpContext& op) {
  const PartialShape& data = op.shape(0);
  if (data.rank_known() && !data[data.rank() - 1].Compatible(data[data.rank() - 2])) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected square matrices", op.InputName(0), ToString(data));
    return;
  }
  op.Set(op.type(0), data);
}

double CountMatMul(const Node& node, llvm::ArrayRef<Shape> inputs, llvm::ArrayRef<Shape> outputs) {
  const Shape& a = inputs[0];
  const bool is_transposed = a.size() > 1 && node.Bool("transpose_a");
  return Elements(outputs[0]) * static_cast<double>(is_transposed ? a[a.size() - 2] : a.back());
}

}  // namespace

std::vector<OpInfo> MatmulRows() {
  return {MakeRow({.set = "opset1",
                   .name = "MatMul",
                   .inputs = {"a: number 1..", "b: number 1.."},
                   .attributes = {{"transpose_a", AttributeKind::kBool, false},
                                  {"transpose_b", AttributeKind::kBool, false}},
                   .infer = Infer<InferMatMul>,
                   .products = CountMatMul,
                   .contraction = Contraction::kMatMul}),
          MakeRow({.set = "opset14",
                   .name = "Inverse",
                   .inputs = {"data: float 2.."},
                   .attributes = {{"adjoint", AttributeKind::kBool, false}},
                   .infer = Infer<InferInverse>,
                   .work = Work::kHeavy})};
}

}  // namespace nnefc::ir::ops::opset

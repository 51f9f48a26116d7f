// Shape inference of NNEF's matmul and linear.

#include "compiler/ir/ops/arithmetic/broadcast.h"
#include "compiler/ir/ops/register.h"
#include "compiler/ir/ops/rows.h"
#include "compiler/ir/wording.h"

namespace nnefc::ir::ops {

namespace {

struct Transposed {
  bool a = false;
  bool b = false;
  bool is_linear = false;  // B is a filter
};

// Returns a hint for operands whose ranks differ.
std::string RankHint(InferContext& context, const PartialShape& a, const PartialShape& b, bool is_linear) {
  if (!is_linear || a.rank() <= 2 || b.rank() != 2 || IsProvisional(context.node())) return "";
  return "; `reshape(.., shape = [0,-1])` makes a matrix of the input";
}

// Returns a hint for operands whose inner extents differ, if transposing the second operand would fix it.
std::string InnerHint(InferContext& context, const PartialShape& b, Dim inner_a, Transposed transposed) {
  const int64_t row = b.rank() - 2, column = b.rank() - 1;
  const Dim other = transposed.b ? b[row] : b[column];
  if (!inner_a.known() || !other.known() || inner_a.min != other.min) return "";
  if (!transposed.is_linear) {
    return transposed.b ? ""
                        : fmt::format("; `{} = true` transposes {}",
                                      ArgumentName(context.node(), "transposeB"), Describe(context, 1));
  }
  PartialShape right = b;
  right.set(row, b[column]);
  right.set(column, b[row]);
  return fmt::format("; a filter of `{}` is [outputs, inputs], transpose it to {}",
                     OperationName(context.node()), ToString(right));
}

// Returns the shape of A' * B' (R 4.7): (batch.., m, n), of unknown rank if an operand's rank is unknown.
// Emits matmul.rank, matmul.inner-extents, binary.broadcast.
std::optional<PartialShape> ProductShape(InferContext& context, Transposed transposed) {
  const PartialShape& a = context.input(0).shape;
  const PartialShape& b = context.input(1).shape;
  if (!a.rank_known() || !b.rank_known()) return PartialShape();
  if (a.rank() < 2 || a.rank() != b.rank()) {
    context.ErrorAt(Describe(context, a.rank() < 2 ? 0 : 1), kMatmulRank,
                    "{} has rank {} and {} has rank {}; expected equal ranks of at least 2{}",
                    Describe(context, 0), a.rank(), Describe(context, 1), b.rank(),
                    RankHint(context, a, b, transposed.is_linear));
    return std::nullopt;
  }
  const int64_t row = a.rank() - 2;
  const int64_t column = a.rank() - 1;
  const Dim inner_a = transposed.a ? a[row] : a[column];
  const Dim inner_b = transposed.b ? b[column] : b[row];
  if (!inner_a.Compatible(inner_b)) {
    context.ErrorAt(Describe(context, 1), kMatmulInner,
                    "{} has shape {} and {} has shape {}: the inner extents at axes {} and {} differ{}",
                    Describe(context, 0), ToString(a), Describe(context, 1), ToString(b),
                    transposed.a ? row : column, transposed.b ? column : row,
                    InnerHint(context, b, inner_a, transposed));
    return std::nullopt;
  }
  PartialShape output = a;
  for (int64_t axis = 0; axis < row; ++axis) {
    const std::optional<Dim> dim = BroadcastDim(a[axis], b[axis]);
    if (!dim) {
      context.Error(kBroadcast,
                    "{} has shape {}, which does not broadcast with {}: the extents differ along axis {}",
                    Describe(context, 1), ToString(b), ToString(a), axis);
      return std::nullopt;
    }
    output.set(axis, *dim);
  }
  output.set(row, transposed.a ? a[column] : a[row]);
  output.set(column, transposed.b ? b[row] : b[column]);
  return output;
}

void InferMatmul(InferContext& context) {
  const Transposed transposed{context.attribute("transposeA").AsBool(),
                              context.attribute("transposeB").AsBool()};
  std::optional<PartialShape> shape = ProductShape(context, transposed);
  if (shape) Produce(context, 0, context.input(0).type, std::move(*shape));
}

// Infers `linear` (R 4.9.2): matmul(input, filter, transposeB = true) + bias.
void InferLinear(InferContext& context) {
  std::optional<PartialShape> shape = ProductShape(context, {.a = false, .b = true, .is_linear = true});
  if (!shape) return;
  shape = BroadcastInput(context, *shape, 2);
  if (shape) Produce(context, 0, context.input(0).type, std::move(*shape));
}

}  // namespace

void RegisterMatmul(OpRegistry& registry) {
  ops::AddRow(registry, {.name = "matmul",
                         .section = "R 4.7",
                         .infer = ops::InferMatmul,
                         .provisional = ProvisionalForm::kMatmul,
                         .narrow = NarrowIntegers::kReplaced,
                         .data = {DataRole::kFilter, DataRole::kFilter}});
  ops::AddRow(registry, {.name = "linear",
                         .section = "R 4.9.2",
                         .infer = ops::InferLinear,
                         .provisional = ProvisionalForm::kMatmul,
                         .narrow = NarrowIntegers::kReplaced,
                         .data = {DataRole::kFilter, DataRole::kFilter, DataRole::kBias},
                         .adjusts = {Adjusts::kNothing, Adjusts::kNothing, Adjusts::kColumns}});
}

}  // namespace nnefc::ir::ops

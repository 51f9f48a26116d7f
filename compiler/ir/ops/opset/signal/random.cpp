// Random numbers: RandomUniform and Multinomial.

#include "compiler/ir/ops/opset/op_context.h"
#include "compiler/ir/ops/opset/signal/rows.h"

namespace nnefc::ir::ops::opset::signal {

namespace {

bool IsRandomType(ElementType type) {
  switch (type) {
    case ElementType::kF16:
    case ElementType::kBF16:
    case ElementType::kF32:
    case ElementType::kF64:
    case ElementType::kI32:
    case ElementType::kI64:
      return true;
    default:
      return false;
  }
}

// RandomUniform-8: the shape is the value of the first input; the bounds have the type of the result.
void InferRandomUniform(OpContext& op) {
  const std::optional<std::vector<int64_t>> extents = op.Integers(0);
  const ElementType type = op.Type("output_type");
  if (!IsRandomType(type)) {
    op.Error(kOpsetAttributeValue,
             "`output_type` of `RandomUniform` is {}; expected f16, bf16, f32, f64, i32 or i64", Name(type));
    return;
  }
  for (int32_t i = 1; i < 3; ++i) {
    if (op.type(i) == type || op.type(i) == ElementType::kDynamic) continue;
    op.Error(kOpsetElementType, "{} has the element type {}; expected {}, as `output_type`", op.InputName(i),
             Name(op.type(i)), Name(type));
    return;
  }
  const std::optional<TensorValue>& low = op.input(1).value;
  const std::optional<TensorValue>& high = op.input(2).value;
  if (low && high && low->volume() == 1 && high->volume() == 1 &&
      !(low->ElementAsDouble(0) < high->ElementAsDouble(0))) {
    op.Error(kOpsetConstantInput, "{} is {}; expected less than {}, which is {}", op.InputName(1),
             low->ElementAsDouble(0), op.InputName(2), high->ElementAsDouble(0));
    return;
  }
  if (!extents) {
    const PartialShape& shape = op.shape(0);
    const bool has_rank =
        shape.rank_known() && shape.rank() == 1 && shape[0].known() && shape[0].value() <= 1024;
    return op.Set(type, has_rank ? PartialShape::OfRank(shape[0].value()) : PartialShape());
  }
  llvm::SmallVector<Dim, 4> dims;
  for (int64_t extent : *extents) {
    if (extent < 0) {
      op.Error(kOpsetConstantInput, "{} has the item {}; expected at least 0", op.InputName(0), extent);
      return;
    }
    dims.push_back(Dim(extent));
  }
  op.Set(type, PartialShape(dims));
}

// Multinomial-13: the second input is the number of classes drawn from each row of probabilities.
void InferMultinomial(OpContext& op) {
  const std::optional<std::vector<int64_t>> samples = op.Integers(1);
  const ElementType type = op.Type("convert_type");
  if (type != ElementType::kI32 && type != ElementType::kI64) {
    op.Error(kOpsetAttributeValue, "`convert_type` of `Multinomial` is {}; expected i32 or i64", Name(type));
    return;
  }
  if (samples && samples->front() < 0) {
    op.Error(kOpsetConstantInput, "{} is {}; expected at least 0", op.InputName(1), samples->front());
    return;
  }
  const PartialShape& probabilities = op.shape(0);
  const Dim count = samples ? Dim(samples->front()) : Dim();
  if (!probabilities.rank_known()) return op.Set(type, PartialShape::OfRank(2));
  if (!op.Bool("with_replacement") && samples && probabilities[1].max < samples->front()) {
    op.Error(kOpsetExtent, "{} is {} for {} classes; expected at most one sample of each without replacement",
             op.InputName(1), samples->front(), ToString(probabilities));
    return;
  }
  op.Set(type, PartialShape{probabilities[0], count});
}

}  // namespace

std::vector<OpInfo> RandomRows() {
  const AttributeInfo global_seed = NonNegative({"global_seed", AttributeKind::kInt, 0});
  const AttributeInfo op_seed = NonNegative({"op_seed", AttributeKind::kInt, 0});
  return {
      MakeRow({.set = "opset8",
               .name = "RandomUniform",
               .inputs = {"shape: index 1", "minval: number 0..1 one", "maxval: number 0..1 one"},
               .attributes = {{"output_type", AttributeKind::kType},
                              op_seed,
                              global_seed,
                              {"alignment", AttributeKind::kString, "tensorflow", {"tensorflow", "pytorch"}}},
               .infer = Infer<InferRandomUniform>}),
      MakeRow({.set = "opset13",
               .name = "Multinomial",
               .inputs = {"probs: float 2", "num_samples: index 0..1 one"},
               .attributes = {{"convert_type", AttributeKind::kType},
                              {"with_replacement", AttributeKind::kBool},
                              {"log_probs", AttributeKind::kBool},
                              global_seed,
                              op_seed},
               .infer = Infer<InferMultinomial>}),
  };
}

}  // namespace nnefc::ir::ops::opset::signal

// Shape inference of OpenVINO's operations on indices and counts: NonZero, OneHot, CumSum, Bucketize,
// SearchSorted, Eye.

#include <algorithm>

#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir::ops::opset {

namespace {

bool CheckIndexType(OpContext& op, std::string_view attribute) {
  const ElementType type = op.Type(attribute);
  if (type == ElementType::kI32 || type == ElementType::kI64) return true;
  op.Error(kOpsetElementType, "`{}` of `{}` is {}; expected i32 or i64", attribute, op.node().type(),
           Name(type));
  return false;
}

int64_t CountNonZero(const TensorValue& value) {
  int64_t count = 0;
  for (int64_t i = 0; i < value.volume(); ++i) count += value.ElementAsDouble(i) != 0 ? 1 : 0;
  return count;
}

// NonZero-3: a column of coordinates for each element that is not zero; the shape depends on the value.
void InferNonZero(OpContext& op) {
  if (!CheckIndexType(op, "output_type")) return;
  const PartialShape& data = op.shape(0);
  if (!data.rank_known()) return op.Set(op.Type("output_type"), PartialShape::OfRank(2));
  const std::optional<TensorValue>& value = op.input(0).value;
  const bool countable = value && BitWidth(value->type()) > 0 && !IsStorageOnly(value->type());
  const Dim count = countable ? Dim(CountNonZero(*value)) : Dim(0, data.volume().value_or(Dim::kUnbounded));
  // A scalar is treated as a list of one element.
  op.Set(op.Type("output_type"), PartialShape{Dim(std::max<int64_t>(data.rank(), 1)), count});
}

// OneHot: an axis of extent `depth` is inserted.
void InferOneHot(OpContext& op) {
  const PartialShape& indices = op.shape(0);
  const ElementType type = op.CommonType(2, 4);
  if (!indices.rank_known()) return op.Set(type, PartialShape());
  const std::optional<int64_t> axis = op.NormalizeAxis(op.Int("axis"), indices.rank() + 1);
  if (!axis) return;
  const std::optional<std::vector<int64_t>> depth = op.Integers(1);
  if (depth && depth->front() < 0) {
    op.Error(kOpsetConstantInput, "{} is {}; expected at least 0", op.InputName(1), depth->front());
    return;
  }
  llvm::SmallVector<Dim, 4> dims(indices.dims().begin(), indices.dims().end());
  dims.insert(dims.begin() + *axis, depth ? Dim(depth->front()) : Dim());
  op.Set(type, PartialShape(dims));
}

// CumSum-3: the shape is preserved; the axis exists.
void InferCumSum(OpContext& op) {
  const PartialShape& data = op.shape(0);
  if (data.rank_known()) {
    const std::optional<std::vector<int64_t>> axis = op.Integers(1);
    if (axis && !op.NormalizeAxis(axis->front(), data.rank())) return;
  }
  op.Set(op.type(0), data);
}

// Bucketize-3: the bucket index of each element.
void InferBucketize(OpContext& op) {
  if (!CheckIndexType(op, "output_type")) return;
  op.Set(op.Type("output_type"), op.shape(0));
}

// SearchSorted-15: the position of each value in its row of sorted values.
void InferSearchSorted(OpContext& op) {
  op.CommonType(0, 2);
  if (!CheckIndexType(op, "output_type")) return;
  const PartialShape& sorted = op.shape(0);
  const PartialShape& values = op.shape(1);
  if (sorted.rank_known() && values.rank_known() && sorted.rank() != 1) {
    if (!op.CheckRank(1, sorted.rank(), sorted.rank())) return;
    for (int64_t i = 0; i + 1 < sorted.rank(); ++i) {
      if (sorted[i].Compatible(values[i])) continue;
      op.Error(kOpsetExtent, "{} has the shape {}; expected rows as {} has", op.InputName(1),
               ToString(values), ToString(sorted));
      return;
    }
  }
  op.Set(op.Type("output_type"), values);
}

// Eye-9: [batch_shape.., num_rows, num_columns].
void InferEye(OpContext& op) {
  const ElementType type = op.Type("output_type");
  const auto extent = [&](int32_t input) -> Dim {
    const std::optional<std::vector<int64_t>> value = op.Integers(input);
    if (!value) return Dim();
    if (value->front() >= 0) return Dim(value->front());
    op.Error(kOpsetConstantInput, "{} is {}; expected at least 0", op.InputName(input), value->front());
    return Dim();
  };
  llvm::SmallVector<Dim, 4> dims;
  if (op.has_input(3)) {
    const std::optional<std::vector<int64_t>> batch = op.Integers(3);
    if (!batch) return op.Set(type, PartialShape());
    for (int64_t item : *batch) {
      if (item < 0) op.Error(kOpsetConstantInput, "{} has the item {}", op.InputName(3), item);
      dims.push_back(Dim(std::max<int64_t>(item, 0)));
    }
  }
  dims.push_back(extent(0));
  dims.push_back(extent(1));
  if (!op.failed()) op.Set(type, PartialShape(dims));
}

}  // namespace

std::vector<OpInfo> CountingRows() {
  const AttributeInfo output_type{"output_type", AttributeKind::kType, ElementType::kI64};
  const std::vector<std::string_view> one_hot{"indices: integer", "depth: integer 0", "on_value: 0",
                                              "off_value: 0"};
  return {
      MakeRow({.set = "opset3",
               .name = "NonZero",
               .inputs = {"data"},
               .attributes = {output_type},
               .infer = Infer<InferNonZero>}),
      MakeRow({.set = "opset1",
               .name = "OneHot",
               .inputs = one_hot,
               .attributes = {{"axis", AttributeKind::kInt}},
               .implied = {{"negative_indices_mode", AttributeKind::kString, "ignore_negative"}},
               .infer = Infer<InferOneHot>}),
      MakeRow({.set = "opset16",
               .name = "OneHot",
               .inputs = one_hot,
               .attributes = {{"axis", AttributeKind::kInt},
                              {"negative_indices_mode",
                               AttributeKind::kString,
                               "ignore_negative",
                               {"ignore_negative", "normalize"}}},
               .infer = Infer<InferOneHot>}),
      MakeRow({.set = "opset3",
               .name = "CumSum",
               .inputs = {"data: number", "axis: index 0..1 one"},
               .attributes = {{"exclusive", AttributeKind::kBool, false},
                              {"reverse", AttributeKind::kBool, false}},
               .infer = Infer<InferCumSum>}),
      MakeRow({.set = "opset3",
               .name = "Bucketize",
               .inputs = {"data: number", "buckets: number 1"},
               .attributes = {output_type, {"with_right_bound", AttributeKind::kBool, true}},
               .infer = Infer<InferBucketize>}),
      MakeRow({.set = "opset15",
               .name = "SearchSorted",
               .inputs = {"sorted: number 1..", "values: number"},
               .attributes = {{"right_mode", AttributeKind::kBool, false}, output_type},
               .infer = Infer<InferSearchSorted>}),
      MakeRow({.set = "opset9",
               .name = "Eye",
               .inputs = {"num_rows: index 0..1 one", "num_columns: index 0..1 one",
                          "diagonal_index: index 0..1 one", "batch_shape?: index 1"},
               .attributes = {{"output_type", AttributeKind::kType}},
               .infer = Infer<InferEye>}),
  };
}

}  // namespace nnefc::ir::ops::opset

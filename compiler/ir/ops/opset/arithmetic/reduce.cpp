// Shape inference of OpenVINO's reductions and TopK.

#include <algorithm>

#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir::ops::opset {

namespace {

// Reduces the axes in the second input; they become 1 or are removed.
void InferReduce(OpContext& op) {
  const PartialShape& data = op.shape(0);
  const bool keep = op.Bool("keep_dims");
  const std::optional<std::vector<int64_t>> given = op.Integers(1);
  if (!data.rank_known()) return op.Set(op.type(0), PartialShape());
  if (!given) {
    const std::optional<int64_t> removed = keep ? 0 : op.shape(1).volume();
    const bool rank_known = removed && *removed <= data.rank();
    return op.Set(op.type(0), rank_known ? PartialShape::OfRank(data.rank() - *removed) : PartialShape());
  }
  const std::optional<std::vector<int64_t>> axes = op.NormalizeAxes(*given, data.rank());
  if (!axes) return;
  std::vector<bool> reduced(static_cast<size_t>(data.rank()), false);
  for (int64_t axis : *axes) reduced[static_cast<size_t>(axis)] = true;
  llvm::SmallVector<Dim, 4> dims;
  for (int64_t i = 0; i < data.rank(); ++i) {
    if (!reduced[static_cast<size_t>(i)]) {
      dims.push_back(data[i]);
    } else if (keep) {
      dims.push_back(Dim(1));
    }
  }
  op.Set(op.type(0), PartialShape(dims));
}

// TopK: k values along the axis and their indices.
void InferTopK(OpContext& op) {
  const PartialShape& data = op.shape(0);
  const ElementType index_type = op.Type("index_element_type");
  if (index_type != ElementType::kI32 && index_type != ElementType::kI64) {
    op.Error(kOpsetElementType, "`index_element_type` of `TopK` is {}; expected i32 or i64",
             Name(index_type));
    return;
  }
  const ElementType k_type = op.type(1);
  if (op.node().set() == "opset1" && k_type != ElementType::kDynamic && k_type != ElementType::kI8 &&
      k_type != ElementType::kI32 && k_type != ElementType::kI64) {
    op.Error(kOpsetElementType, "{} has the element type {}; expected i8, i32 or i64", op.InputName(1),
             Name(k_type));
    return;
  }
  if (op.node().set() == "opset11" && op.Bool("stable") && op.String("sort") == "none") {
    op.Error(kOpsetAttributeValue, "`sort` of a stable `TopK` is `none`; expected `value` or `index`");
    return;
  }
  PartialShape shape = data;
  if (data.rank_known()) {
    const std::optional<int64_t> axis = op.NormalizeAxis(op.Int("axis"), data.rank());
    if (!axis) return;
    const std::optional<std::vector<int64_t>> k = op.Integers(1);
    if (k && (*k)[0] < 0) {
      op.Error(kOpsetConstantInput, "{} is {}", op.InputName(1), (*k)[0]);
      return;
    }
    const Dim extent = data[*axis];
    if (k && (*k)[0] > extent.max) {
      op.Error(kOpsetConstantInput, "{} is {}; expected at most {}, the extent of axis {}", op.InputName(1),
               (*k)[0], extent.max, *axis);
      return;
    }
    shape.set(*axis, k ? Dim((*k)[0]) : Dim(0, extent.max));
  }
  op.Set(0, op.type(0), shape);
  op.Set(1, index_type, shape);
}

}  // namespace

std::vector<OpInfo> ReduceRows() {
  std::vector<OpInfo> rows;
  const auto add = [&](std::string_view set, std::string_view name, std::string_view data = "data: number") {
    rows.push_back(MakeRow({.set = set,
                            .name = name,
                            .inputs = {data, "axes: integer 0..1"},
                            .attributes = {{"keep_dims", AttributeKind::kBool, false}},
                            .infer = Infer<InferReduce>}));
  };
  for (std::string_view name : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"}) {
    add("opset1", name);
  }
  for (std::string_view name : {"ReduceLogicalAnd", "ReduceLogicalOr"}) add("opset1", name, "data: boolean");
  add("opset4", "ReduceL1");
  add("opset4", "ReduceL2");
  std::vector<AttributeInfo> top_k{{"axis", AttributeKind::kInt},
                                   {"mode", AttributeKind::kString, std::nullopt, {"max", "min"}},
                                   {"sort", AttributeKind::kString, std::nullopt, {"value", "index", "none"}},
                                   {"index_element_type", AttributeKind::kType, ElementType::kI32}};
  for (std::string_view set : {"opset1", "opset3", "opset11"}) {
    if (set == "opset11") top_k.push_back({"stable", AttributeKind::kBool, false});
    rows.push_back(MakeRow({.set = set,
                            .name = "TopK",
                            .inputs = {"data: number 1..", "k: integer 0"},
                            .attributes = top_k,
                            .infer = Infer<InferTopK>,
                            .outputs = {"values", "indices"}}));
  }
  return rows;
}

}  // namespace nnefc::ir::ops::opset

// Shape inference of OpenVINO's operations with tuples of indices: GatherND, ScatterNDUpdate, ScatterUpdate.

#include <algorithm>

#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir::ops::opset {

namespace {

void RequireSameType(OpContext& op, int32_t input) {
  if (op.type(0) == ElementType::kDynamic || op.type(input) == ElementType::kDynamic ||
      op.type(0) == op.type(input)) {
    return;
  }
  op.Error(kOpsetElementType, "{} has the element type {}; expected {}", op.InputName(input),
           Name(op.type(input)), Name(op.type(0)));
}

// Appends the dimensions [first, last) of `shape`.
void AppendDims(llvm::SmallVector<Dim, 4>& dims, const PartialShape& shape, int64_t first, int64_t last) {
  for (int64_t i = first; i < last; ++i) dims.push_back(shape[i]);
}

// Returns the length of the tuples along the last axis of the indices, if known. Emits kOpsetExtent if the
// data have fewer axes after `batch_dims`.
std::optional<int64_t> TupleLength(OpContext& op, int64_t batch_dims) {
  const PartialShape& data = op.shape(0);
  const PartialShape& indices = op.shape(1);
  if (!op.CheckRank(1, std::max<int64_t>(1, batch_dims + 1), INT64_MAX)) return std::nullopt;
  if (!data.rank_known() || !indices.rank_known() || !indices[indices.rank() - 1].known()) {
    return std::nullopt;
  }
  const int64_t length = indices[indices.rank() - 1].value();
  if (length >= 1 && length <= data.rank() - batch_dims) return length;
  op.Error(kOpsetExtent, "{} holds tuples of {}; the data have {} axes to index", op.InputName(1), length,
           data.rank() - batch_dims);
  return std::nullopt;
}

// GatherND: the extents of the indices without the last one, then those of the data axes that the tuples do
// not index. GatherND-5 merges the batch axes into one.
void InferGatherNd(OpContext& op) {
  const PartialShape& data = op.shape(0);
  const PartialShape& indices = op.shape(1);
  const int64_t batch = op.Int("batch_dims");
  if (!op.CheckRank(0, SaturatingAdd(batch, 1), INT64_MAX)) return;
  const std::optional<int64_t> length = TupleLength(op, batch);
  if (op.failed()) return;
  if (!length) return op.Set(op.type(0), PartialShape());
  llvm::SmallVector<Dim, 4> dims;
  for (int64_t i = 0; i < batch; ++i) {
    const std::optional<Dim> dim = Merge(data[i], indices[i]);
    if (!dim) {
      op.Error(kOpsetExtent, "{} has the shape {}; batch extents are those of {}", op.InputName(1),
               ToString(indices), ToString(data));
      return;
    }
    dims.push_back(*dim);
  }
  if (op.node().set() == "opset5" && batch > 1) {
    Dim product(1);
    for (Dim dim : dims) product = MultiplyOrAny(product, dim);
    dims.assign(1, product);
  }
  AppendDims(dims, indices, batch, indices.rank() - 1);
  AppendDims(dims, data, batch + *length, data.rank());
  op.Set(op.type(0), PartialShape(dims));
}

// ScatterNDUpdate: updates are [indices but the last.., data after the tuples..].
void InferScatterNdUpdate(OpContext& op) {
  RequireSameType(op, 2);
  const PartialShape& data = op.shape(0);
  const PartialShape& indices = op.shape(1);
  const std::optional<int64_t> length = TupleLength(op, 0);
  if (op.failed()) return;
  if (length) {
    llvm::SmallVector<Dim, 4> dims;
    AppendDims(dims, indices, 0, indices.rank() - 1);
    AppendDims(dims, data, *length, data.rank());
    const PartialShape expected{llvm::ArrayRef<Dim>(dims)};
    if (!Merge(expected, op.shape(2))) {
      op.Error(kOpsetExtent, "{} has the shape {}; expected {}", op.InputName(2), ToString(op.shape(2)),
               ToString(expected));
      return;
    }
  }
  op.Set(op.type(0), data);
}

// ScatterUpdate-3: in the updates, the extents of the indices replace the axis.
void InferScatterUpdate(OpContext& op) {
  RequireSameType(op, 2);
  const PartialShape& data = op.shape(0);
  const PartialShape& indices = op.shape(1);
  const std::optional<std::vector<int64_t>> given = op.Integers(3);
  if (data.rank_known() && indices.rank_known()) {
    const int64_t rank = data.rank() + indices.rank() - 1;
    if (!op.CheckRank(2, rank, rank)) return;
  }
  if (data.rank_known() && indices.rank_known() && given) {
    const std::optional<int64_t> axis = op.NormalizeAxis(given->front(), data.rank());
    if (!axis) return;
    llvm::SmallVector<Dim, 4> dims;
    AppendDims(dims, data, 0, *axis);
    AppendDims(dims, indices, 0, indices.rank());
    AppendDims(dims, data, *axis + 1, data.rank());
    const PartialShape expected{llvm::ArrayRef<Dim>(dims)};
    if (!Merge(expected, op.shape(2))) {
      op.Error(kOpsetExtent, "{} has the shape {}; expected {}", op.InputName(2), ToString(op.shape(2)),
               ToString(expected));
      return;
    }
  }
  op.Set(op.type(0), data);
}

}  // namespace

std::vector<OpInfo> GatherNdRows() {
  const AttributeInfo reduction{
      "reduction", AttributeKind::kString, "none", {"none", "sum", "sub", "prod", "min", "max"}};
  std::vector<OpInfo> rows;
  for (std::string_view set : {"opset5", "opset8"}) {
    rows.push_back(MakeRow({.set = set,
                            .name = "GatherND",
                            .inputs = {"data: 1..", "indices: integer 1.."},
                            .attributes = {NonNegative({"batch_dims", AttributeKind::kInt, 0})},
                            .infer = Infer<InferGatherNd>}));
  }
  rows.push_back(MakeRow({.set = "opset3",
                          .name = "ScatterUpdate",
                          .inputs = {"data: 1..", "indices: integer", "updates", "axis: integer 0..1 one"},
                          .infer = Infer<InferScatterUpdate>}));
  rows.push_back(MakeRow({.set = "opset4",
                          .name = "ScatterNDUpdate",
                          .inputs = {"data: 1..", "indices: index 1..", "updates"},
                          .implied = {reduction},
                          .infer = Infer<InferScatterNdUpdate>}));
  rows.push_back(MakeRow({.set = "opset15",
                          .name = "ScatterNDUpdate",
                          .inputs = {"data: 1..", "indices: index 1..", "updates"},
                          .attributes = {reduction},
                          .infer = Infer<InferScatterNdUpdate>}));
  return rows;
}

}  // namespace nnefc::ir::ops::opset

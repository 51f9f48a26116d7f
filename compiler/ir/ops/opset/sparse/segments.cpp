// SegmentMax, SparseFillEmptyRows and GatherTree.

#include <algorithm>
#include <vector>

#include "compiler/ir/ops/opset/op_context.h"
#include "compiler/ir/ops/opset/sparse/rows.h"
#include "fmt/format.h"

namespace nnefc::ir::ops::opset::sparse {

namespace {

// SegmentMax-16: one row per segment. The number of segments is the last input, by default the largest id +
// 1.
void InferSegmentMax(OpContext& op) {
  const std::optional<std::vector<int64_t>> count = op.has_input(2) ? op.Integers(2) : std::nullopt;
  const std::optional<TensorValue> ids = op.has_input(2) ? std::nullopt : op.Value(1);
  PartialShape shape = op.shape(0);
  if (shape.rank_known() && op.shape(1).rank_known() && !shape[0].Compatible(op.shape(1)[0])) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected a segment for each row of {}", op.InputName(1),
             ToString(op.shape(1)), ToString(shape));
    return;
  }
  const std::optional<TensorValue>& known = op.input(1).value;
  for (int64_t i = 1; known && i < known->volume(); ++i) {
    if (known->ElementAsInt(i) >= known->ElementAsInt(i - 1)) continue;
    op.Error(kOpsetConstantInput, "{} has {} after {}; expected ascending segments", op.InputName(1),
             known->ElementAsInt(i), known->ElementAsInt(i - 1));
    return;
  }
  if (count && count->front() < 0) {
    op.Error(kOpsetConstantInput, "{} is {}; expected at least 0", op.InputName(2), count->front());
    return;
  }
  Dim segments;
  if (count) segments = Dim(count->front());
  if (ids) {
    int64_t largest = -1;
    for (int64_t i = 0; i < ids->volume(); ++i) largest = std::max(largest, ids->ElementAsInt(i));
    segments = Dim(SaturatingAdd(largest, 1));
  }
  if (shape.rank_known()) shape.set(0, segments);
  op.Set(op.type(0), shape);
}

// SparseFillEmptyRows-16: adds an element to each empty row; `values` are at the pairs of `indices`.
void InferSparseFillEmptyRows(OpContext& op) {
  const std::optional<std::vector<int64_t>> extents = op.Integers(1);
  const std::optional<TensorValue> indices = op.Value(2);
  const ElementType type = op.type(0);
  if (type != op.type(3) && type != ElementType::kDynamic && op.type(3) != ElementType::kDynamic) {
    op.Error(kOpsetElementType, "{} has the element type {}; expected {} as the values", op.InputName(3),
             Name(op.type(3)), Name(type));
    return;
  }
  const ElementType index = op.CommonType(1, 3);
  if (op.failed()) return;
  const PartialShape pairs = op.shape(2).rank_known() ? op.shape(2) : PartialShape::OfRank(2);
  const Dim values = op.shape(0).rank_known() ? op.shape(0)[0] : Dim();
  if (!pairs[0].Compatible(values) || !pairs[1].Compatible(Dim(2))) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected {}, a pair for each value", op.InputName(2),
             ToString(pairs), ToString(PartialShape{values, Dim(2)}));
    return;
  }
  if (op.shape(1).rank_known() && !op.shape(1)[0].Compatible(Dim(2))) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected [2]", op.InputName(1), ToString(op.shape(1)));
    return;
  }
  if (extents && (extents->front() < 0 || extents->back() < 0)) {
    op.Error(kOpsetConstantInput, "{} is [{}]; expected extents, neither negative", op.InputName(1),
             fmt::join(*extents, ","));
    return;
  }
  Dim count;
  if (extents && indices) {
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < indices->volume(); i += 2) rows.push_back(indices->ElementAsInt(i));
    std::sort(rows.begin(), rows.end());
    if (!rows.empty() && (rows.front() < 0 || rows.back() >= extents->front())) {
      op.Error(kOpsetConstantInput, "{} has the row {}; expected one of {}", op.InputName(2),
               rows.front() < 0 ? rows.front() : rows.back(), extents->front());
      return;
    }
    const auto distinct = std::unique(rows.begin(), rows.end()) - rows.begin();
    count = Dim(SaturatingAdd(indices->volume() / 2, extents->front() - distinct));
  }
  op.Set(0, index, PartialShape{count, Dim(2)});
  op.Set(1, type, PartialShape{count});
  op.Set(2, ElementType::kBoolean, PartialShape{extents ? Dim(extents->front()) : Dim()});
}

// GatherTree-1: beams [time, batch, beam], each followed from its last step back through its parents.
void InferGatherTree(OpContext& op) {
  const ElementType type = op.CommonType(0, 4);
  if (op.failed()) return;
  const std::optional<PartialShape> shape = Merge(op.shape(0), op.shape(1));
  if (!shape) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected that of the steps, {}", op.InputName(1),
             ToString(op.shape(1)), ToString(op.shape(0)));
    return;
  }
  PartialShape result = shape->rank_known() ? *shape : PartialShape::OfRank(3);
  if (op.shape(2).rank_known()) {
    const std::optional<Dim> batch = Merge(result[1], op.shape(2)[0]);
    if (!batch) {
      op.Error(kOpsetExtent, "{} has the shape {}; expected a length for each of the batch of {}",
               op.InputName(2), ToString(op.shape(2)), ToString(result));
      return;
    }
    result.set(1, *batch);
  }
  op.Set(type, result);
}

}  // namespace

std::vector<OpInfo> SegmentRows() {
  return {
      MakeRow({.set = "opset16",
               .name = "SegmentMax",
               .inputs = {"data: number 1..", "segment_ids: index 1", "num_segments?: index 0"},
               .attributes = {{"fill_mode", AttributeKind::kString, std::nullopt, {"zero", "lowest"}}},
               .infer = Infer<InferSegmentMax>}),
      MakeRow({.set = "opset16",
               .name = "SparseFillEmptyRows",
               .inputs = {"values: 1", "dense_shape: index 1", "indices: index 2", "default_value: 0"},
               .infer = Infer<InferSparseFillEmptyRows>,
               .outputs = {"output_indices", "output_values", "empty_row_indicator"}}),
      MakeRow({.set = "opset1",
               .name = "GatherTree",
               .inputs = {"step_ids: number 3", "parent_idx: number 3", "max_seq_len: number 1",
                          "end_token: number 0"},
               .infer = Infer<InferGatherTree>}),
  };
}

}  // namespace nnefc::ir::ops::opset::sparse

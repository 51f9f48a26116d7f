// EmbeddingBagOffsets, EmbeddingBagPacked and EmbeddingSegmentsSum: sums and means of rows of a table.

#include <algorithm>

#include "compiler/ir/ops/opset/op_context.h"
#include "compiler/ir/ops/opset/sparse/rows.h"

namespace nnefc::ir::ops::opset::sparse {

namespace {

// Sets the output to [bags, extents of a row of the table..].
void SetBags(OpContext& op, Dim bags) {
  PartialShape shape = op.shape(0);
  if (shape.rank_known()) shape.set(0, bags);
  op.Set(op.type(0), shape);
}

// True if the weights have the table's type and one item for each of `indices`.
bool CheckWeights(OpContext& op, int32_t weights, int32_t indices) {
  if (!op.has_input(weights)) return true;
  const ElementType type = op.type(weights);
  if (type != op.type(0) && type != ElementType::kDynamic && op.type(0) != ElementType::kDynamic) {
    op.Error(kOpsetElementType, "{} has the element type {}; expected {} as the table", op.InputName(weights),
             Name(type), Name(op.type(0)));
    return false;
  }
  if (Merge(op.shape(weights), op.shape(indices))) return true;
  op.Error(kOpsetExtent, "{} has the shape {}; expected a weight for each of {}, {}", op.InputName(weights),
           ToString(op.shape(weights)), op.InputName(indices), ToString(op.shape(indices)));
  return false;
}

// True unless a mean has weights, a combination that OpenVINO does not define.
bool CheckReduction(OpContext& op, int32_t weights) {
  if (op.String("reduction") == "sum" || !op.has_input(weights)) return true;
  op.Error(kOpsetArity, "`{}` with the reduction `mean` has {}; expected no weights", op.node().type(),
           op.InputName(weights));
  return false;
}

// EmbeddingBagOffsets: a bag has the indices from its offset to the next bag's.
void InferBagOffsets(OpContext& op) {
  op.CommonType(1, std::min(op.num_inputs(), 4));
  if (op.failed() || !CheckWeights(op, 4, 1) || !CheckReduction(op, 4)) return;
  SetBags(op, op.shape(2).rank_known() ? op.shape(2)[0] : Dim());
}

// EmbeddingBagPacked: each row of the indices is a bag.
void InferBagPacked(OpContext& op) {
  if (!CheckWeights(op, 2, 1) || !CheckReduction(op, 2)) return;
  SetBags(op, op.shape(1).rank_known() ? op.shape(1)[0] : Dim());
}

// EmbeddingSegmentsSum-3: `segment_ids` has the bag of each index.
void InferSegmentsSum(OpContext& op) {
  const std::optional<std::vector<int64_t>> count = op.Integers(3);
  op.CommonType(1, std::min(op.num_inputs(), 5));
  if (op.failed() || !CheckWeights(op, 5, 1)) return;
  if (!Merge(op.shape(1), op.shape(2))) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected a segment for each of the indices {}",
             op.InputName(2), ToString(op.shape(2)), ToString(op.shape(1)));
    return;
  }
  if (count && count->front() < 0) {
    op.Error(kOpsetConstantInput, "{} is {}; expected at least 0", op.InputName(3), count->front());
    return;
  }
  SetBags(op, count ? Dim(count->front()) : Dim());
}

}  // namespace

std::vector<OpInfo> EmbeddingRows() {
  const AttributeInfo reduction{"reduction", AttributeKind::kString, "sum", {"sum", "mean"}};
  const std::vector<std::string_view> offsets{"emb_table: number 1..", "indices: index 1", "offsets: index 1",
                                              "default_index?: index 0", "per_sample_weights?: number 1"};
  const std::vector<std::string_view> packed{"emb_table: number 1..", "indices: index 2",
                                             "per_sample_weights?: number 2"};
  return {
      MakeRow({.set = "opset3",
               .name = "EmbeddingBagOffsetsSum",
               .inputs = offsets,
               .implied = {reduction},
               .infer = Infer<InferBagOffsets>}),
      MakeRow({.set = "opset15",
               .name = "EmbeddingBagOffsets",
               .inputs = offsets,
               .attributes = {reduction},
               .infer = Infer<InferBagOffsets>}),
      MakeRow({.set = "opset3",
               .name = "EmbeddingBagPackedSum",
               .inputs = packed,
               .implied = {reduction},
               .infer = Infer<InferBagPacked>}),
      MakeRow({.set = "opset15",
               .name = "EmbeddingBagPacked",
               .inputs = packed,
               .attributes = {reduction},
               .infer = Infer<InferBagPacked>}),
      MakeRow(
          {.set = "opset3",
           .name = "EmbeddingSegmentsSum",
           .inputs = {"emb_table: number 1..", "indices: index 1", "segment_ids: index 1",
                      "num_segments: index 0", "default_index?: index 0", "per_sample_weights?: number 1"},
           .infer = Infer<InferSegmentsSum>}),
  };
}

}  // namespace nnefc::ir::ops::opset::sparse

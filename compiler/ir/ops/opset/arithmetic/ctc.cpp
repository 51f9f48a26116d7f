// Connectionist temporal classification: CTCGreedyDecoder, CTCGreedyDecoderSeqLen and CTCLoss.

#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir::ops::opset {

namespace {

// CTCGreedyDecoder-1: data [time, batch, classes] and a mask [time, batch] yield [batch, time, 1, 1].
void InferCtcGreedyDecoder(OpContext& op) {
  const PartialShape data = op.shape(0).rank_known() ? op.shape(0) : PartialShape::OfRank(3);
  const PartialShape mask = op.shape(1).rank_known() ? op.shape(1) : PartialShape::OfRank(2);
  const std::optional<Dim> time = Merge(data[0], mask[0]);
  const std::optional<Dim> batch = Merge(data[1], mask[1]);
  if (!time || !batch) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected a place for each time and batch of {}",
             op.InputName(1), ToString(mask), ToString(data));
    return;
  }
  if (data[2] == Dim(0)) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected at least 1 class, the blank", op.InputName(0),
             ToString(data));
    return;
  }
  op.Set(op.type(0), PartialShape{*batch, *time, Dim(1), Dim(1)});
}

// Returns the data shape [batch, time, classes] after merging the batch with that of `vectors`, the inputs
// with one item per batch. Nothing after an error.
std::optional<PartialShape> BatchedClasses(OpContext& op, llvm::ArrayRef<int32_t> vectors) {
  PartialShape data = op.shape(0).rank_known() ? op.shape(0) : PartialShape::OfRank(3);
  for (int32_t input : vectors) {
    if (!op.shape(input).rank_known()) continue;
    const std::optional<Dim> batch = Merge(data[0], op.shape(input)[0]);
    if (!batch) {
      op.Error(kOpsetExtent, "{} has the shape {}; expected an item for each of the batch of {}",
               op.InputName(input), ToString(op.shape(input)), ToString(data));
      return std::nullopt;
    }
    data.set(0, *batch);
  }
  if (data[2] != Dim(0)) return data;
  op.Error(kOpsetExtent, "{} has the shape {}; expected at least 1 class, the blank", op.InputName(0),
           ToString(data));
  return std::nullopt;
}

// CTCGreedyDecoderSeqLen-6: classes [batch, time], padded with -1, and their number.
void InferCtcGreedyDecoderSeqLen(OpContext& op) {
  for (std::string_view attribute : {"classes_index_type", "sequence_length_type"}) {
    const ElementType type = op.Type(attribute);
    if (type == ElementType::kI32 || type == ElementType::kI64) continue;
    op.Error(kOpsetAttributeValue, "`{}` of `CTCGreedyDecoderSeqLen` is {}; expected i32 or i64", attribute,
             Name(type));
    return;
  }
  const std::optional<PartialShape> data = BatchedClasses(op, {1});
  if (!data) return;
  op.Set(0, op.Type("classes_index_type"), PartialShape{(*data)[0], (*data)[1]});
  op.Set(1, op.Type("sequence_length_type"), PartialShape{(*data)[0]});
}

// CTCLoss-4: one loss per batch item.
void InferCtcLoss(OpContext& op) {
  const std::optional<PartialShape> data = BatchedClasses(op, {1, 2, 3});
  if (!data) return;
  if (op.shape(2).rank_known() && !op.shape(2)[1].Compatible((*data)[1])) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected a label for each time of {}", op.InputName(2),
             ToString(op.shape(2)), ToString(*data));
    return;
  }
  op.Set(op.type(0), PartialShape{(*data)[0]});
}

}  // namespace

std::vector<OpInfo> CtcRows() {
  return {
      MakeRow({.set = "opset1",
               .name = "CTCGreedyDecoder",
               .inputs = {"data: float 3", "sequence_mask: float 2"},
               .attributes = {{"ctc_merge_repeated", AttributeKind::kBool, true}},
               .infer = Infer<InferCtcGreedyDecoder>}),
      MakeRow({.set = "opset6",
               .name = "CTCGreedyDecoderSeqLen",
               .inputs = {"data: float 3", "sequence_length: index 1", "blank_index?: index 0..1 one"},
               .attributes = {{"merge_repeated", AttributeKind::kBool, true},
                              {"classes_index_type", AttributeKind::kType, ElementType::kI32},
                              {"sequence_length_type", AttributeKind::kType, ElementType::kI32}},
               .infer = Infer<InferCtcGreedyDecoderSeqLen>,
               .outputs = {"classes_index", "sequence_length"}}),
      MakeRow({.set = "opset4",
               .name = "CTCLoss",
               .inputs = {"logits: float 3", "logit_length: index 1", "labels: index 2",
                          "label_length: index 1", "blank_index?: index 0..1 one"},
               .attributes = {{"preprocess_collapse_repeated", AttributeKind::kBool, false},
                              {"ctc_merge_repeated", AttributeKind::kBool, true},
                              {"unique", AttributeKind::kBool, false}},
               .infer = Infer<InferCtcLoss>}),
  };
}

}  // namespace nnefc::ir::ops::opset

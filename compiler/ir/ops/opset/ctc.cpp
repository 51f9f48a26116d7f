// Connectionist temporal classification: CTCGreedyDecoder.

#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir {

namespace {

// CTCGreedyDecoder-1: [batch, time, 1, 1] of data [time, batch, classes] and a
// mask [time, batch].
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

}  // namespace

std::vector<OpInfo> CtcRows() {
  return {
      MakeRow({.set = "opset1",
               .name = "CTCGreedyDecoder",
               .inputs = {"data: float 3", "sequence_mask: float 2"},
               .attributes = {{"ctc_merge_repeated", AttributeKind::kBool, true}},
               .infer = Infer<InferCtcGreedyDecoder>}),
  };
}

}  // namespace nnefc::ir

#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir {

namespace {

// FakeQuantize-1: the four limits broadcast with the data.
void InferFakeQuantize(OpContext& op) {
  const ElementType type = op.CommonType(0, 5);
  if (op.Int("levels") < 2) {
    op.Error(kOpsetAttributeValue, "`levels` of `FakeQuantize` is {}; expected at least 2", op.Int("levels"));
    return;
  }
  PartialShape shape = op.shape(0);
  const std::string rule = op.String("auto_broadcast");
  for (int32_t i = 1; i < 5; ++i) {
    std::optional<PartialShape> stretched;
    if (rule == "numpy") {
      stretched = BroadcastNumpy(shape, op.shape(i));
    } else if (rule == "pdpd") {
      stretched = BroadcastPdpd(shape, op.shape(i), -1);
    } else {
      stretched = Merge(shape, op.shape(i));
    }
    if (!stretched) {
      op.Error(kOpsetBroadcast, "{} has the shape {}, which does not broadcast with {} ({})", op.InputName(i),
               ToString(op.shape(i)), ToString(shape), rule);
      return;
    }
    shape = *stretched;
  }
  op.Set(type, shape);
}

}  // namespace

std::vector<OpRow> QuantizationRows() {
  return {
      MakeRow({.set = "opset1",
               .name = "FakeQuantize",
               .inputs = {"data: float", "input_low: float", "input_high: float", "output_low: float",
                          "output_high: float"},
               .attributes = {{"levels", AttributeKind::kInt},
                              {"auto_broadcast", AttributeKind::kString, "numpy", {"none", "numpy", "pdpd"}}},
               .infer = Infer<InferFakeQuantize>})};
}

}  // namespace nnefc::ir

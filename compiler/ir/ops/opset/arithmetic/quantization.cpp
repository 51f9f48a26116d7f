// Shape inference of OpenVINO's FakeQuantize and FakeConvert.

#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir::ops::opset {

namespace {

// True if `common`, a broadcast of the shape with another one, may equal the shape apart from leading ones.
bool KeepsShape(const PartialShape& shape, const PartialShape& common) {
  if (!shape.rank_known() || !common.rank_known()) return true;
  const int64_t more = common.rank() - shape.rank();
  for (int64_t i = 0; i < common.rank(); ++i) {
    if (!common[i].Compatible(i < more ? Dim(1) : shape[i - more])) return false;
  }
  return true;
}

// FakeQuantize-1: the four limits broadcast to the data, whose shape is preserved.
void InferFakeQuantize(OpContext& op) {
  const ElementType type = op.CommonType(0, 5);
  if (op.Int("levels") < 2) {
    op.Error(kOpsetAttributeValue, "`levels` of `FakeQuantize` is {}; expected at least 2", op.Int("levels"));
    return;
  }
  const PartialShape& data = op.shape(0);
  for (int32_t i = 1; i < 5; ++i) {
    const std::optional<PartialShape> common = op.BroadcastShapes(data, op.shape(i));
    if (common && KeepsShape(data, *common)) continue;
    op.Error(kOpsetBroadcast, "{} has the shape {}, which does not broadcast to {} ({})", op.InputName(i),
             ToString(op.shape(i)), ToString(data), op.String("auto_broadcast"));
    return;
  }
  op.Set(type, data);
}

// FakeConvert-13: scales and shifts broadcast to the data.
void InferFakeConvert(OpContext& op) {
  const ElementType type = op.CommonType(0, op.num_inputs());
  const PartialShape& data = op.shape(0);
  for (int32_t i = 1; i < op.num_inputs(); ++i) {
    const std::optional<PartialShape> common = BroadcastNumpy(data, op.shape(i));
    const bool has_more = common && common->rank_known() && data.rank_known() && common->rank() > data.rank();
    if (common && !has_more && KeepsShape(data, *common)) continue;
    op.Error(kOpsetBroadcast, "{} has the shape {}, which does not broadcast to {}", op.InputName(i),
             ToString(op.shape(i)), ToString(data));
    return;
  }
  if (op.has_input(2) && !Merge(op.shape(1), op.shape(2))) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected that of the scale, {}", op.InputName(2),
             ToString(op.shape(2)), ToString(op.shape(1)));
    return;
  }
  op.Set(type, data);
}

}  // namespace

std::vector<OpInfo> QuantizationRows() {
  std::vector<AttributeInfo> attributes = BroadcastAttributes();
  attributes.insert(attributes.begin(), {"levels", AttributeKind::kInt});
  return {
      MakeRow({.set = "opset1",
               .name = "FakeQuantize",
               .inputs = {"data: float", "input_low: float", "input_high: float", "output_low: float",
                          "output_high: float"},
               .attributes = attributes,
               .infer = Infer<InferFakeQuantize>,
               .quantizer = Quantizer::kFakeQuantize}),
      MakeRow(
          {.set = "opset13",
           .name = "FakeConvert",
           .inputs = {"data: float", "scale: float", "shift?: float"},
           .attributes = {{"destination_type", AttributeKind::kString, std::nullopt, {"f8e4m3", "f8e5m2"}}},
           .infer = Infer<InferFakeConvert>})};
}

}  // namespace nnefc::ir::ops::opset

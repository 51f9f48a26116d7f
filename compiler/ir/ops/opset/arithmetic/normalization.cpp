// Shape inference of OpenVINO's normalizations.

#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir::ops::opset {

namespace {

// MVN-6 and LRN-1: at most one item for each axis of the data.
bool CheckAxesCount(OpContext& op) {
  const PartialShape& data = op.shape(0);
  const PartialShape& axes = op.shape(1);
  if (!data.rank_known() || !axes.rank_known() || axes[0].min <= data.rank()) return true;
  op.Error(kOpsetExtent, "{} has the shape {}; expected at most {} items", op.InputName(1), ToString(axes),
           data.rank());
  return false;
}

// The axes in the second input exist; the shape is preserved.
void InferOverAxes(OpContext& op) {
  const PartialShape& data = op.shape(0);
  const std::optional<std::vector<int64_t>> axes = op.Integers(1);
  if (data.rank_known() && axes && !op.NormalizeAxes(*axes, data.rank())) return;
  op.Set(op.type(0), data);
}

void InferMvn(OpContext& op) {
  if (CheckAxesCount(op)) InferOverAxes(op);
}

// LRN-1: unknown axes are treated as axis 1.
void InferLrn(OpContext& op) {
  if (!CheckAxesCount(op)) return;
  if (op.shape(0).rank_known() && !op.Integers(1) && !op.NormalizeAxis(1, op.shape(0).rank())) return;
  InferOverAxes(op);
}

// BatchNormInference-5: gamma, beta, mean and variance have one element per channel.
void InferBatchNorm(OpContext& op) {
  const ElementType type = op.CommonType(0, 5);
  PartialShape shape = op.shape(0);
  Dim channels = shape.rank_known() ? shape[1] : Dim();
  for (int32_t i = 1; i < 5; ++i) {
    if (!op.shape(i).rank_known()) continue;
    const std::optional<Dim> merged = Merge(channels, op.shape(i)[0]);
    if (!merged) {
      op.Error(kOpsetExtent, "{} has the shape {}; expected an element for each of {} channels",
               op.InputName(i), ToString(op.shape(i)), channels.min);
      return;
    }
    channels = *merged;
  }
  if (shape.rank_known()) shape.set(1, channels);
  op.Set(type, shape);
}

// BatchNormInference-1 has the data between the parameters.
void InferOldBatchNorm(OpContext& op) {
  op.CommonType(0, 5);
  for (int32_t i : {0, 1, 3, 4}) {
    if (!op.shape(i).rank_known() || !op.shape(2).rank_known()) continue;
    if (op.shape(i)[0].Compatible(op.shape(2)[1])) continue;
    op.Error(kOpsetExtent, "{} has the shape {}; expected an element for each of {} channels",
             op.InputName(i), ToString(op.shape(i)), op.shape(2)[1].min);
    return;
  }
  op.Set(op.type(2), op.shape(2));
}

// MVN-2 and GRN-1: normalize over channels and the axes after them.
void InferOverChannels(OpContext& op) {
  op.Set(op.type(0), op.shape(0));
}

// GroupNormalization-12: the number of groups divides the channels.
void InferGroupNormalization(OpContext& op) {
  const ElementType type = op.CommonType(0, 3);
  const int64_t groups = op.Int("num_groups");
  if (op.shape(0).rank_known()) {
    const Dim channels = op.shape(0)[1];
    const auto fits = [&](int32_t input) {
      return !op.shape(input).rank_known() || op.shape(input)[0].Compatible(channels);
    };
    if (!fits(1) || !fits(2) || !DivideExactly(channels, groups)) {
      op.Error(kOpsetExtent, "`GroupNormalization` of {} in {} groups has the scale {} and the bias {}",
               ToString(op.shape(0)), groups, ToString(op.shape(1)), ToString(op.shape(2)));
      return;
    }
  }
  op.Set(type, op.shape(0));
}

}  // namespace

std::vector<OpInfo> NormalizationRows() {
  const AttributeInfo eps_mode{"eps_mode", AttributeKind::kString, std::nullopt, {"add", "max"}};
  AttributeInfo mvn_mode = eps_mode;
  mvn_mode.choices = {"inside_sqrt", "outside_sqrt", "INSIDE_SQRT", "OUTSIDE_SQRT"};
  return {
      MakeRow({.set = "opset1",
               .name = "LRN",
               .inputs = {"data: float 1..", "axes: integer 1"},
               .attributes = {{"alpha", AttributeKind::kDouble},
                              {"beta", AttributeKind::kDouble},
                              {"bias", AttributeKind::kDouble},
                              Positive({"size", AttributeKind::kInt})},
               .infer = Infer<InferLrn>}),
      MakeRow({.set = "opset1",
               .name = "NormalizeL2",
               .inputs = {"data: float 1..", "axes: integer 0..1"},
               .attributes = {NonNegative({"eps", AttributeKind::kDouble}), eps_mode},
               .infer = Infer<InferOverAxes>}),
      MakeRow({.set = "opset5",
               .name = "BatchNormInference",
               .inputs = {"data: float 2..", "gamma: float 1", "beta: float 1", "mean: float 1",
                          "variance: float 1"},
               .attributes = {NonNegative({"epsilon", AttributeKind::kDouble})},
               .infer = Infer<InferBatchNorm>,
               .is_batch_normalization = true}),
      MakeRow({.set = "opset1",
               .name = "BatchNormInference",
               .inputs = {"gamma: float 1", "beta: float 1", "data: float 2..", "mean: float 1",
                          "variance: float 1"},
               .attributes = {NonNegative({"epsilon", AttributeKind::kDouble})},
               .infer = Infer<InferOldBatchNorm>,
               .is_batch_normalization = true}),
      MakeRow({.set = "opset2",
               .name = "MVN",
               .inputs = {"data: float 2.."},
               .attributes = {{"eps", AttributeKind::kDouble, 1e-9},
                              {"across_channels", AttributeKind::kBool, true},
                              {"normalize_variance", AttributeKind::kBool, true},
                              {"reduction_axes", AttributeKind::kInts, Attribute(Attribute::Integers{})}},
               .implied = {{"eps_mode", AttributeKind::kString, "inside_sqrt"}},
               .infer = Infer<InferOverChannels>}),
      MakeRow({.set = "opset1",
               .name = "GRN",
               .inputs = {"data: float 2..4"},
               .attributes = {{"bias", AttributeKind::kDouble}},
               .infer = Infer<InferOverChannels>}),
      MakeRow({.set = "opset12",
               .name = "GroupNormalization",
               .inputs = {"data: float 2..", "scale: float 1", "bias: float 1"},
               .attributes = {Positive({"num_groups", AttributeKind::kInt}),
                              Positive({"epsilon", AttributeKind::kDouble})},
               .infer = Infer<InferGroupNormalization>}),
      MakeRow({.set = "opset6",
               .name = "MVN",
               .inputs = {"data: float 1..", "axes: integer 1"},
               .attributes = {{"normalize_variance", AttributeKind::kBool},
                              {"eps", AttributeKind::kDouble},
                              mvn_mode},
               .infer = Infer<InferMvn>}),
  };
}

}  // namespace nnefc::ir::ops::opset

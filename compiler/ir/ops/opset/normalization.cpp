#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir {

namespace {

// The axes of the second input exist; the shape stays.
void InferOverAxes(OpContext& op) {
  const PartialShape& data = op.shape(0);
  const std::optional<std::vector<int64_t>> axes = op.Integers(1);
  if (data.rank_known() && axes && !op.NormalizeAxes(*axes, data.rank())) return;
  op.Set(op.type(0), data);
}

// LRN-1: `size` is the extent of the window along each axis.
void InferLrn(OpContext& op) {
  if (op.Int("size") < 1) {
    op.Error(kOpsetAttributeValue, "`size` of `LRN` is {}; expected at least 1", op.Int("size"));
    return;
  }
  InferOverAxes(op);
}

// BatchNormInference-5: gamma, beta, mean and variance have an element for
// each channel.
void InferBatchNorm(OpContext& op) {
  const ElementType type = op.CommonType(0, 5);
  if (!op.CheckRank(0, 2, INT64_MAX)) return;
  PartialShape shape = op.shape(0);
  Dim channels = shape.rank_known() ? shape[1] : Dim();
  for (int32_t i = 1; i < 5; ++i) {
    if (!op.CheckRank(i, 1, 1)) return;
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
  if (!op.CheckRank(2, 2, INT64_MAX)) return;
  for (int32_t i : {0, 1, 3, 4}) {
    if (!op.CheckRank(i, 1, 1)) return;
    if (!op.shape(i).rank_known() || !op.shape(2).rank_known()) continue;
    if (op.shape(i)[0].Compatible(op.shape(2)[1])) continue;
    op.Error(kOpsetExtent, "{} has the shape {}; expected an element for each of {} channels",
             op.InputName(i), ToString(op.shape(i)), op.shape(2)[1].min);
    return;
  }
  op.Set(op.type(2), op.shape(2));
}

void InferMvn(OpContext& op) {
  InferOverAxes(op);
}

// MVN-2 and GRN-1: over the channels and what follows them.
void InferOverChannels(OpContext& op) {
  if (op.CheckRank(0, 2, INT64_MAX)) op.Set(op.type(0), op.shape(0));
}

// GroupNormalization-12: the channels are a whole number of groups.
void InferGroupNormalization(OpContext& op) {
  const ElementType type = op.CommonType(0, 3);
  const int64_t groups = op.Int("num_groups");
  if (groups < 1 || !(op.Double("epsilon") > 0)) {
    op.Error(kOpsetAttributeValue, "`GroupNormalization` has {} groups and the epsilon {}", groups,
             op.Double("epsilon"));
    return;
  }
  if (!op.CheckRank(0, 2, INT64_MAX) || !op.CheckRank(1, 1, 1) || !op.CheckRank(2, 1, 1)) return;
  if (op.shape(0).rank_known()) {
    const Dim channels = op.shape(0)[1];
    const auto fits = [&](int32_t input) {
      return !op.shape(input).rank_known() || op.shape(input)[0].Compatible(channels);
    };
    if (!fits(1) || !fits(2) || (channels.known() && channels.value() % groups != 0)) {
      op.Error(kOpsetExtent, "`GroupNormalization` of {} in {} groups has the scale {} and the bias {}",
               ToString(op.shape(0)), groups, ToString(op.shape(1)), ToString(op.shape(2)));
      return;
    }
  }
  op.Set(type, op.shape(0));
}

}  // namespace

std::vector<OpRow> NormalizationRows() {
  const AttributeInfo eps_mode{"eps_mode", AttributeKind::kString, std::nullopt, {"add", "max"}};
  AttributeInfo mvn_mode = eps_mode;
  mvn_mode.choices = {"inside_sqrt", "outside_sqrt", "INSIDE_SQRT", "OUTSIDE_SQRT"};
  return {
      MakeRow({.set = "opset1",
               .name = "LRN",
               .inputs = {"data", "axes"},
               .attributes = {{"alpha", AttributeKind::kDouble},
                              {"beta", AttributeKind::kDouble},
                              {"bias", AttributeKind::kDouble},
                              {"size", AttributeKind::kInt}},
               .infer = Infer<InferLrn>}),
      MakeRow({.set = "opset1",
               .name = "NormalizeL2",
               .inputs = {"data", "axes"},
               .attributes = {{"eps", AttributeKind::kDouble}, eps_mode},
               .infer = Infer<InferOverAxes>}),
      MakeRow({.set = "opset5",
               .name = "BatchNormInference",
               .inputs = {"data", "gamma", "beta", "mean", "variance"},
               .attributes = {{"epsilon", AttributeKind::kDouble}},
               .infer = Infer<InferBatchNorm>}),
      MakeRow({.set = "opset1",
               .name = "BatchNormInference",
               .inputs = {"gamma", "beta", "data", "mean", "variance"},
               .attributes = {{"epsilon", AttributeKind::kDouble}},
               .infer = Infer<InferOldBatchNorm>}),
      MakeRow({.set = "opset2",
               .name = "MVN",
               .inputs = {"data"},
               .attributes = {{"eps", AttributeKind::kDouble, 1e-9},
                              {"across_channels", AttributeKind::kBool, true},
                              {"normalize_variance", AttributeKind::kBool, true},
                              {"reduction_axes", AttributeKind::kInts, Attribute(Attribute::Integers{})}},
               .infer = Infer<InferOverChannels>}),
      MakeRow({.set = "opset1",
               .name = "GRN",
               .inputs = {"data"},
               .attributes = {{"bias", AttributeKind::kDouble}},
               .infer = Infer<InferOverChannels>}),
      MakeRow({.set = "opset12",
               .name = "GroupNormalization",
               .inputs = {"data", "scale", "bias"},
               .attributes = {{"num_groups", AttributeKind::kInt}, {"epsilon", AttributeKind::kDouble}},
               .infer = Infer<InferGroupNormalization>}),
      MakeRow({.set = "opset6",
               .name = "MVN",
               .inputs = {"data", "axes"},
               .attributes = {{"normalize_variance", AttributeKind::kBool},
                              {"eps", AttributeKind::kDouble},
                              mvn_mode},
               .infer = Infer<InferMvn>}),
  };
}

}  // namespace nnefc::ir

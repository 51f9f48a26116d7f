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

void InferMvn(OpContext& op) {
  InferOverAxes(op);
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

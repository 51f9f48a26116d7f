// Shape inference of NNEF's normalizations.

#include "compiler/ir/ops/arithmetic/broadcast.h"
#include "compiler/ir/ops/register.h"
#include "compiler/ir/ops/rows.h"

namespace nnefc::ir::ops {

namespace {

// Infers the normalizations of R 4.9.4. The box filters in their bodies have automatic padding and stride 1,
// so that the shape is preserved. normalization.size: a positive item for every axis.
void ProduceLocallyNormalized(InferContext& context) {
  const PartialShape& input = context.input(0).shape;
  const Attribute::Integers size = context.attribute("size").AsInts();
  if (input.rank_known() && size.size() != static_cast<size_t>(input.rank())) {
    context.Error(kNormalizationSize, "{} has {} items; expected {}, the rank of `input`",
                  Describe(context, "size"), size.size(), input.rank());
    return;
  }
  for (size_t i = 0; i < size.size(); ++i) {
    if (size[i] > 0) continue;
    context.Error(kNormalizationSize, "{} is {}; expected a positive number", Describe(context, "size", i),
                  size[i]);
    return;
  }
  ProduceLikeInput(context);
}

// Infers `l1_normalization`, `l2_normalization`.
void InferNorm(InferContext& context) {
  const PartialShape& input = context.input(0).shape;
  const Attribute::Integers axes = context.attribute("axes").AsInts();
  if (input.rank_known() && !CheckAxes(context, "axes", axes, input.rank())) return;
  ProduceLikeInput(context);
}

// Infers offset + scale * (input - mean) / sqrt(variance + epsilon), where all broadcast.
void InferBatchNormalization(InferContext& context) {
  ProduceBroadcast(context, context.input(0).type, {0, 1, 2, 3, 4});
}

}  // namespace

void RegisterNormalization(OpRegistry& registry) {
  AddRows(
      registry,
      {"local_response_normalization", "local_mean_normalization", "local_variance_normalization",
       "local_contrast_normalization"},
      {.section = "R 4.9.4", .infer = ops::ProduceLocallyNormalized, .provisional = ProvisionalForm::kBox});
  AddRows(registry, {"l1_normalization", "l2_normalization"},
          {.section = "R 4.9.4", .infer = ops::InferNorm, .provisional = ProvisionalForm::kAxes});
  ops::AddRow(registry, {.name = "batch_normalization",
                         .section = "R 4.9.4",
                         .infer = ops::InferBatchNormalization,
                         .data = {DataRole::kFilter, DataRole::kMean, DataRole::kVariance, DataRole::kOffset,
                                  DataRole::kScale},
                         .adjusts = {Adjusts::kNothing, Adjusts::kChannels, Adjusts::kChannels,
                                     Adjusts::kChannels, Adjusts::kChannels}});
}

}  // namespace nnefc::ir::ops

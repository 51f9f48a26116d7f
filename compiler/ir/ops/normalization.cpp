#include "compiler/ir/ops/broadcast.h"
#include "compiler/ir/ops/register.h"
#include "compiler/ir/ops/rows.h"

namespace nnefc::ir {

namespace nnef {
namespace {

// R 4.9.4: the box filters of the bodies pad automatically with stride 1, so
// that the shape stays. normalization.size: a positive item for every axis.
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

void InferLocalResponse(InferContext& context) {
  if (CheckSignature(context, {.inputs = kScalar,
                               .attributes = {{"size", ArgumentKind::kIntegers},
                                              {"alpha", ArgumentKind::kScalar},
                                              {"beta", ArgumentKind::kScalar},
                                              {"bias", ArgumentKind::kScalar}}})) {
    ProduceLocallyNormalized(context);
  }
}

void InferLocalMean(InferContext& context) {
  const AttributeRule size{"size", ArgumentKind::kIntegers};
  if (CheckSignature(context, {.inputs = kScalar, .attributes = size})) ProduceLocallyNormalized(context);
}

// `local_variance_normalization`, `local_contrast_normalization`.
void InferLocalVariance(InferContext& context) {
  if (CheckSignature(context, {.inputs = kScalar,
                               .attributes = {{"size", ArgumentKind::kIntegers},
                                              {"bias", ArgumentKind::kScalar},
                                              {"epsilon", ArgumentKind::kScalar}}})) {
    ProduceLocallyNormalized(context);
  }
}

// `l1_normalization`, `l2_normalization`.
void InferNorm(InferContext& context) {
  if (!CheckSignature(context, {.inputs = kScalar,
                                .attributes = {{"axes", ArgumentKind::kIntegers},
                                               {"bias", ArgumentKind::kScalar},
                                               {"epsilon", ArgumentKind::kScalar}}})) {
    return;
  }
  const PartialShape& input = context.input(0).shape;
  const Attribute::Integers axes = context.attribute("axes").AsInts();
  if (input.rank_known() && !CheckAxes(context, "axes", axes, input.rank())) return;
  ProduceLikeInput(context);
}

// offset + scale * (input - mean) / sqrt(variance + epsilon): all broadcast.
void InferBatchNormalization(InferContext& context) {
  const AttributeRule epsilon{"epsilon", ArgumentKind::kScalar};
  if (!CheckSignature(context,
                      {.inputs = {kScalar, kScalar, kScalar, kScalar, kScalar}, .attributes = epsilon})) {
    return;
  }
  ProduceBroadcast(context, context.input(0).type, {0, 1, 2, 3, 4});
}

}  // namespace
}  // namespace nnef

void RegisterNormalization(OpRegistry& registry) {
  const auto row = [&](std::string_view name, InferFunction infer) {
    nnef::AddRow(registry, {.name = name, .section = "R 4.9.4", .inputs = {"input"}, .infer = infer});
  };
  row("local_response_normalization", nnef::InferLocalResponse);
  row("local_mean_normalization", nnef::InferLocalMean);
  row("local_variance_normalization", nnef::InferLocalVariance);
  row("local_contrast_normalization", nnef::InferLocalVariance);
  row("l1_normalization", nnef::InferNorm);
  row("l2_normalization", nnef::InferNorm);
  nnef::AddRow(registry, {.name = "batch_normalization",
                          .section = "R 4.9.4",
                          .inputs = {"input", "mean", "variance", "offset", "scale"},
                          .infer = nnef::InferBatchNormalization});
}

}  // namespace nnefc::ir

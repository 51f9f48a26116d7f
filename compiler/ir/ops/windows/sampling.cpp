// Shape inference of NNEF's up- and downsampling by integer factors.

#include "compiler/ir/interval.h"
#include "compiler/ir/ops/arguments.h"
#include "compiler/ir/ops/opset/dims.h"
#include "compiler/ir/ops/register.h"
#include "compiler/ir/ops/rows.h"
#include "compiler/ir/wording.h"

namespace nnefc::ir::ops {

namespace {

// sampling.rank, sampling.factor: one positive item for each spatial axis.
bool CheckFactor(InferContext& context) {
  const PartialShape& input = context.input(0).shape;
  const Attribute::Integers factor = context.attribute("factor").AsInts();
  if (input.rank_known() && input.rank() < 2) {
    context.Error(kSamplingRank, "{} has rank {}; expected at least 2", Describe(context, 0), input.rank());
    return false;
  }
  if (input.rank_known() && factor.size() + 2 != static_cast<size_t>(input.rank())) {
    context.Error(kSamplingFactor, "{} has {} items; expected {}, one for each spatial axis",
                  Describe(context, "factor"), factor.size(), input.rank() - 2);
    return false;
  }
  for (size_t i = 0; i < factor.size(); ++i) {
    if (factor[i] > 0) continue;
    context.Error(kSamplingFactor, "{} is {}; expected a positive number", Describe(context, "factor", i),
                  factor[i]);
    return false;
  }
  return true;
}

// Infers x = X / f. The division must have no remainder (R 4.3.4).
void InferDownsample(InferContext& context) {
  const Output& input = context.input(0);
  if (!CheckFactor(context)) return;
  if (!input.shape.rank_known()) return Produce(context, 0, input.type, PartialShape());
  const Attribute::Integers factor = context.attribute("factor").AsInts();
  PartialShape output = input.shape;
  for (int64_t axis = 2; axis < output.rank(); ++axis) {
    const int64_t f = factor[static_cast<size_t>(axis - 2)];
    const std::optional<Dim> extent = opset::DivideExactly(input.shape[axis], f);
    if (!extent) {
      context.Error(kSamplingFactor, "{} is {}, which does not divide the extent {} of axis {}",
                    Describe(context, "factor", static_cast<size_t>(axis - 2)), f,
                    opset::ExtentText(input.shape[axis]), axis);
      return;
    }
    output.set(axis, *extent);
  }
  Produce(context, 0, input.type, std::move(output));
}

// Infers X = x * f.
void ProduceUpsampled(InferContext& context) {
  const Output& input = context.input(0);
  if (!CheckFactor(context)) return;
  if (!input.shape.rank_known()) return Produce(context, 0, input.type, PartialShape());
  const Attribute::Integers factor = context.attribute("factor").AsInts();
  PartialShape output = input.shape;
  for (int64_t axis = 2; axis < output.rank(); ++axis) {
    const std::optional<Dim> extent = Multiply(input.shape[axis], Dim(factor[static_cast<size_t>(axis - 2)]));
    if (!extent) {
      context.Error(kShapeOverflow, "the result of `{}` has too many elements along axis {}",
                    OperationName(context.node()), axis);
      return;
    }
    output.set(axis, *extent);
  }
  Produce(context, 0, input.type, std::move(output));
}

void InferNearestUpsample(InferContext& context) {
  ProduceUpsampled(context);
}

void InferMultilinearUpsample(InferContext& context) {
  if (!CheckChoice(context, kSamplingMethod, "method", kSamplingMethods)) return;
  if (!CheckChoice(context, kSamplingBorder, "border", kBorders)) return;
  ProduceUpsampled(context);
}

}  // namespace

void RegisterSampling(OpRegistry& registry) {
  ops::AddRows(registry, {"nearest_downsample", "area_downsample"},
               {.section = "R 4.3.4",
                .infer = ops::InferDownsample,
                .sign = SignRule::kNonNegativeIfFirst,
                .provisional = ProvisionalForm::kFactor});
  ops::AddRow(registry, {.name = "nearest_upsample",
                         .section = "R 4.3.4",
                         .infer = ops::InferNearestUpsample,
                         .sign = SignRule::kNonNegativeIfFirst,
                         .provisional = ProvisionalForm::kFactor});
  ops::AddRow(registry, {.name = "multilinear_upsample",
                         .section = "R 4.3.4",
                         .infer = ops::InferMultilinearUpsample,
                         .sign = SignRule::kNonNegativeIfFirst,
                         .provisional = ProvisionalForm::kFactor});
}

}  // namespace nnefc::ir::ops

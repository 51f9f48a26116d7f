#include "compiler/ir/ops/broadcast.h"
#include "compiler/ir/ops/register.h"
#include "compiler/ir/ops/rows.h"

namespace nnefc::ir {

namespace nnef {
namespace {

// R 4.9.1: element by element.
void InferActivation(InferContext& context) {
  if (CheckSignature(context, {.inputs = kScalar})) ProduceLikeInput(context);
}

// `elu`, `leaky_relu`.
void InferAlphaActivation(InferContext& context) {
  const AttributeRule alpha{"alpha", ArgumentKind::kScalar};
  if (CheckSignature(context, {.inputs = kScalar, .attributes = alpha})) ProduceLikeInput(context);
}

void InferSelu(InferContext& context) {
  if (CheckSignature(context,
                     {.inputs = kScalar,
                      .attributes = {{"alpha", ArgumentKind::kScalar}, {"lambda", ArgumentKind::kScalar}}})) {
    ProduceLikeInput(context);
  }
}

// select(x < 0.0, alpha * x, x): both broadcast.
void InferPrelu(InferContext& context) {
  if (!CheckSignature(context, {.inputs = {kScalar, kScalar}})) return;
  ProduceBroadcast(context, context.input(0).type, {0, 1});
}

// axis.range, axis.repeated: by its reductions (R 4.4).
void InferSoftmax(InferContext& context) {
  if (!CheckSignature(context, {.inputs = kScalar, .attributes = kAxesRule})) return;
  const PartialShape& input = context.input(0).shape;
  const Attribute::Integers axes = context.attribute("axes").AsInts();
  if (input.rank_known() && !CheckAxes(context, "axes", axes, input.rank())) return;
  ProduceLikeInput(context);
}

}  // namespace
}  // namespace nnef

void RegisterActivation(OpRegistry& registry) {
  using nnef::AddRow;
  nnef::AddRows(registry, {"gelu", "silu"},
                {.section = "R 4.9.1", .inputs = {"x"}, .outputs = {"y"}, .infer = nnef::InferActivation});
  nnef::AddRows(registry, {"sigmoid", "relu", "softplus"},
                {.section = "R 4.9.1",
                 .inputs = {"x"},
                 .outputs = {"y"},
                 .infer = nnef::InferActivation,
                 .sign = SignRule::kNever});
  nnef::AddRows(
      registry, {"elu", "leaky_relu"},
      {.section = "R 4.9.1", .inputs = {"x"}, .outputs = {"y"}, .infer = nnef::InferAlphaActivation});
  AddRow(registry, {"prelu", "R 4.9.1", {"x", "alpha"}, {"y"}, nnef::InferPrelu});
  AddRow(registry, {"selu", "R 4.9.1", {"x"}, {"y"}, nnef::InferSelu});
  AddRow(registry, {.name = "softmax",
                    .section = "R 4.9.1",
                    .inputs = {"x"},
                    .outputs = {"y"},
                    .infer = nnef::InferSoftmax,
                    .sign = SignRule::kNever});
}

}  // namespace nnefc::ir

// Shape inference of NNEF's activations with parameters: prelu and softmax.

#include "compiler/ir/ops/arithmetic/broadcast.h"
#include "compiler/ir/ops/register.h"
#include "compiler/ir/ops/rows.h"

namespace nnefc::ir::ops {

namespace {

// Infers select(x < 0.0, alpha * x, x), where both broadcast.
void InferPrelu(InferContext& context) {
  ProduceBroadcast(context, context.input(0).type, {0, 1});
}

// axis.range, axis.repeated: as for its reductions (R 4.4).
void InferSoftmax(InferContext& context) {
  const PartialShape& input = context.input(0).shape;
  const Attribute::Integers axes = context.attribute("axes").AsInts();
  if (input.rank_known() && !CheckAxes(context, "axes", axes, input.rank())) return;
  ProduceLikeInput(context);
}

}  // namespace

void RegisterActivation(OpRegistry& registry) {
  const auto row = [&](std::initializer_list<std::string_view> names, const InferFunction& infer,
                       SignRule sign = SignRule::kUnknown, std::initializer_list<Adjusts> adjusts = {}) {
    ops::AddRows(
        registry, names,
        {.section = "R 4.9.1", .infer = infer, .sign = sign, .is_elementwise = true, .adjusts = adjusts});
  };
  row({"gelu", "silu", "elu", "selu", "leaky_relu"}, ops::ProduceLikeInput);
  row({"sigmoid"}, ops::ProduceLikeInput, SignRule::kNonNegative);
  ops::AddRow(registry, {.name = "relu",
                         .section = "R 4.9.1",
                         .infer = ops::ProduceLikeInput,
                         .sign = SignRule::kNonNegative,
                         .integers = IntegerResult::kWhole,
                         .is_elementwise = true});
  row({"softplus"}, ops::ProduceLikeInput, SignRule::kNonNegative);
  row({"prelu"}, ops::InferPrelu, SignRule::kUnknown, {Adjusts::kNothing, Adjusts::kChannels});
  ops::AddRow(registry, {.name = "softmax",
                         .section = "R 4.9.1",
                         .infer = ops::InferSoftmax,
                         .sign = SignRule::kNonNegative,
                         .provisional = ProvisionalForm::kAxes});
}

}  // namespace nnefc::ir::ops

// Shape inference of NNEF's copy_n and add_n.

#include "compiler/ir/ops/arithmetic/broadcast.h"
#include "compiler/ir/ops/register.h"
#include "compiler/ir/ops/rows.h"

namespace nnefc::ir::ops {

namespace {

// copy_n.times: the number of results (R 4.9.6).
void InferCopyN(InferContext& context) {
  const int64_t times = context.attribute("times").AsInt();
  if (times < 0) {
    context.Error(kCopyTimes, "{} is {}; expected 0 or more", Describe(context, "times"), times);
    return;
  }
  if (times != context.node().num_outputs()) {
    context.Error(kArity, "`copy_n` has {} results; expected {}", context.node().num_outputs(), times);
    return;
  }
  const Output input = context.input(0);
  for (int32_t i = 0; i < context.node().num_outputs(); ++i) Produce(context, i, input.type, input.shape);
}

// Infers the sum of broadcast tensors; without tensors it is the scalar 0.0.
void InferAddN(InferContext& context) {
  ProduceBroadcast(context, context.num_inputs() == 0 ? ElementType::kF32 : context.input(0).type, {0});
}

}  // namespace

void RegisterMiscellaneous(OpRegistry& registry) {
  ops::AddRow(registry, {.name = "copy_n",
                         .section = "R 4.9.6",
                         .infer = ops::InferCopyN,
                         .sign = SignRule::kNonNegativeIfFirst,
                         .results = ResultCount::kTimes});
  ops::AddRow(
      registry,
      {.name = "add_n", .section = "R 4.9.6", .infer = ops::InferAddN, .sign = SignRule::kNonNegativeIfAll});
}

}  // namespace nnefc::ir::ops

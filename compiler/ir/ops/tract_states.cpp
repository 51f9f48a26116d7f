// Primitives of tract's registries that keep a state from run to run.

#include "compiler/ir/interval.h"
#include "compiler/ir/ops/arguments.h"
#include "compiler/ir/ops/register.h"
#include "compiler/ir/ops/rows.h"

namespace nnefc::ir::ops {

namespace {

// tract_state.length: at least one part.
void InferHistory(InferContext& context) {
  PartialShape shape = context.input(0).shape;
  const int64_t axis = context.attribute("axis").AsInt(), length = context.attribute("length").AsInt();
  if (length < 1) {
    context.Error(kTractState, "{} is {}; expected at least 1", Describe(context, "length"), length);
    return;
  }
  if (shape.rank_known()) {
    if (!CheckAxis(context, "axis", axis, shape.rank())) return;
    const std::optional<Dim> longer = shape[axis].known() ? Add(shape[axis], Dim(length)) : Dim();
    if (!longer) {
      context.Error(kShapeOverflow, "the result of `tract_pulse_history` has too many elements along axis {}",
                    axis);
      return;
    }
    shape.set(axis, *longer);
  }
  Produce(context, 0, context.input(0).type, shape);
}

void InferLatch(InferContext& context) {
  Produce(context, 0, context.input(0).type, context.input(0).shape);
}

// Infers the joined inputs of an unknown number of runs.
void InferJoined(InferContext& context) {
  PartialShape shape = context.input(0).shape;
  const int64_t axis = context.attribute("axis").AsInt(), window = context.attribute("window").AsInt();
  if (window < 0) {
    context.Error(kTractState, "{} is {}; expected at least 0", Describe(context, "window"), window);
    return;
  }
  if (shape.rank_known()) {
    if (!CheckAxis(context, "axis", axis, shape.rank())) return;
    shape.set(axis, Dim());
  }
  Produce(context, 0, context.input(0).type, shape);
}

}  // namespace

void RegisterTractStates(OpRegistry& registry) {
  ops::AddRow(registry, {.name = "tract_pulse_history", .infer = ops::InferHistory});
  ops::AddRow(registry, {.name = "tract_pulse_keep", .infer = ops::ProduceLikeInput, .is_sink = true});
  ops::AddRow(registry, {.name = "tract_pulse_latch", .infer = ops::InferLatch});
  ops::AddRow(registry, {.name = "tract_pulse_resume", .infer = ops::ProduceLikeInput});
  ops::AddRow(registry, {.name = "tract_pulse_total", .infer = ops::ProduceLikeInput});
  ops::AddRow(registry, {.name = "tract_transformers_joined", .infer = ops::InferJoined});
}

}  // namespace nnefc::ir::ops

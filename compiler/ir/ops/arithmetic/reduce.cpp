// Shape inference of NNEF's reductions and moments.

#include "compiler/ir/ops/arguments.h"
#include "compiler/ir/ops/register.h"
#include "compiler/ir/ops/rows.h"

namespace nnefc::ir::ops {

namespace {

// Returns the input's shape with extent 1 along `axes` (R 4.4). Emits axis.range, axis.repeated.
std::optional<PartialShape> ReducedShape(InferContext& context) {
  PartialShape shape = context.input(0).shape;
  if (!shape.rank_known()) return shape;
  const Attribute::Integers axes = context.attribute("axes").AsInts();
  if (!CheckAxes(context, "axes", axes, shape.rank())) return std::nullopt;
  for (int64_t axis : axes) shape.set(axis, Dim(1));
  return shape;
}

void ProduceReduced(InferContext& context, ElementType type) {
  std::optional<PartialShape> shape = ReducedShape(context);
  if (shape) Produce(context, 0, type, std::move(*shape));
}

void InferReduce(InferContext& context) {
  ProduceReduced(context, context.input(0).type);
}

void InferArgReduce(InferContext& context) {
  ProduceReduced(context, ElementType::kI64);
}

void InferLogicalReduce(InferContext& context) {
  ProduceReduced(context, ElementType::kBoolean);
}

// Infers mean and variance, of equal shape (R 4.9.6).
void InferMoments(InferContext& context) {
  std::optional<PartialShape> shape = ReducedShape(context);
  if (!shape) return;
  Produce(context, 0, context.input(0).type, *shape);
  Produce(context, 1, context.input(0).type, std::move(*shape));
}

}  // namespace

void RegisterReduce(OpRegistry& registry) {
  const auto reduce = [&](std::string_view name, std::string_view equivalent, IntegerResult integers,
                          NarrowIntegers narrow = NarrowIntegers::kKept) {
    AddRow(registry, {.name = name,
                      .section = "R 4.4",
                      .infer = ops::InferReduce,
                      .sign = SignRule::kNonNegativeIfFirst,
                      .provisional = ProvisionalForm::kAxes,
                      .integers = integers,
                      .equivalent = equivalent,
                      .narrow = narrow});
  };
  reduce("sum_reduce", "ReduceSum", IntegerResult::kWhole, NarrowIntegers::kReduced);
  reduce("max_reduce", "ReduceMax", IntegerResult::kWhole);
  reduce("min_reduce", "ReduceMin", IntegerResult::kWhole);
  reduce("mean_reduce", "ReduceMean", IntegerResult::kQuotient);
  AddRows(registry, {"argmax_reduce", "argmin_reduce"},
          {.section = "R 4.4", .infer = ops::InferArgReduce, .narrow = NarrowIntegers::kReplaced});
  AddRow(registry, {.name = "all_reduce",
                    .section = "R 4.4",
                    .infer = ops::InferLogicalReduce,
                    .equivalent = "ReduceLogicalAnd"});
  AddRow(registry, {.name = "any_reduce",
                    .section = "R 4.4",
                    .infer = ops::InferLogicalReduce,
                    .equivalent = "ReduceLogicalOr"});
  AddRow(registry, {.name = "moments",
                    .section = "R 4.9.6",
                    .infer = ops::InferMoments,
                    .provisional = ProvisionalForm::kAxes});
}

}  // namespace nnefc::ir::ops

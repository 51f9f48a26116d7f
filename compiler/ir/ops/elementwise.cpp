#include "compiler/ir/ops/broadcast.h"
#include "compiler/ir/ops/register.h"
#include "compiler/ir/ops/rows.h"

namespace nnefc::ir::ops {

namespace {

// Infers arithmetic operations (R 4.2.2, R 4.2.4): the inputs broadcast.
void InferArithmetic(InferContext& context) {
  ProduceBroadcast(context, context.input(0).type, {0, 1});
}

// Infers comparisons, `and`, `or` (R 4.2.2): the inputs broadcast to a logical result.
void InferLogical(InferContext& context) {
  ProduceBroadcast(context, ElementType::kBoolean, {0, 1});
}

// Infers `select` (R 4.2.3): the condition and both values broadcast to a result of the values' type.
void InferSelect(InferContext& context) {
  ProduceBroadcast(context, context.input(1).type, {0, 1, 2});
}

// Infers `clamp` (R 4.2.4): the value and both bounds broadcast.
void InferClamp(InferContext& context) {
  ProduceBroadcast(context, context.input(0).type, {0, 1, 2});
}

}  // namespace

void RegisterElementwise(OpRegistry& registry) {
  using Form = ProvisionalForm;
  const auto row = [&](std::string_view section, const InferFunction& infer,
                       std::initializer_list<std::string_view> names, SignRule sign = SignRule::kUnknown,
                       Form provisional = Form::kSame, std::initializer_list<Adjusts> adjusts = {}) {
    ops::AddRows(registry, names,
                 {.section = section,
                  .infer = infer,
                  .sign = sign,
                  .provisional = provisional,
                  .is_elementwise = true,
                  .adjusts = adjusts});
  };
  const auto commutative = [&](const InferFunction& infer, std::initializer_list<std::string_view> names,
                               SignRule sign = SignRule::kUnknown) {
    ops::AddRows(
        registry, names,
        {.section = "R 4.2.2", .infer = infer, .sign = sign, .is_elementwise = true, .is_commutative = true});
  };
  row("R 4.2.1", ProduceLikeInput, {"copy"}, SignRule::kNonNegativeIfFirst);
  row("R 4.2.1", ProduceLikeInput,
      {"neg",  "rcp",  "log",   "sin",   "cos",   "tan",  "sinh",  "cosh", "tanh",  "asin",
       "acos", "atan", "asinh", "acosh", "atanh", "sign", "floor", "ceil", "round", "not"});
  row("R 4.2.1", ProduceLikeInput, {"exp", "abs"}, SignRule::kNonNegative);
  row("R 4.2.4", ProduceLikeInput, {"rsqr", "rsqrt", "log2"});
  row("R 4.2.4", ProduceLikeInput, {"sqr", "sqrt"}, SignRule::kNonNegative);
  row("R 4.2.2", ops::InferArithmetic, {"sub", "div", "pow"});
  commutative(ops::InferArithmetic, {"add", "mul"}, SignRule::kNonNegativeIfAll);
  row("R 4.2.2", ops::InferLogical, {"lt", "gt", "le", "ge"});
  commutative(ops::InferLogical, {"eq", "ne", "and", "or"});
  row("R 4.2.4", ops::InferArithmetic, {"min"}, SignRule::kNonNegativeIfAll, Form::kMinMax);
  row("R 4.2.4", ops::InferArithmetic, {"max"}, SignRule::kNonNegativeIfAny, Form::kMinMax);
  row("R 4.2.3", ops::InferSelect, {"select"}, SignRule::kUnknown, Form::kSelect);
  row("R 4.2.4", ops::InferClamp, {"clamp"}, SignRule::kUnknown, Form::kClamp,
      {Adjusts::kNothing, Adjusts::kAnyExtent, Adjusts::kAnyExtent});
}

}  // namespace nnefc::ir::ops

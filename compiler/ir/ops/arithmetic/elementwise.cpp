// Shape inference of NNEF's elementwise operations, including select and clamp.

#include "compiler/ir/ops/arithmetic/broadcast.h"
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

// An operation with the name of its OpenVINO equivalent.
struct Function {
  Function(const char* named, const char* equal = "", IntegerResult whole = IntegerResult::kUnknown,
           NarrowIntegers narrow_integers = NarrowIntegers::kKept)
      : name(named), equivalent(equal), integers(whole), narrow(narrow_integers) {}

  std::string_view name, equivalent;
  IntegerResult integers;
  NarrowIntegers narrow;
};

}  // namespace

void RegisterElementwise(OpRegistry& registry) {
  using Form = ProvisionalForm;
  using enum IntegerResult;
  using enum NarrowIntegers;
  const auto add = [&](std::initializer_list<Function> functions, Row row) {
    row.is_elementwise = true;
    for (const Function& function : functions) {
      row.name = function.name;
      row.equivalent = function.equivalent;
      row.integers = function.integers;
      row.narrow = function.narrow;
      AddRow(registry, row);
    }
  };
  const auto row = [&](std::string_view section, const InferFunction& infer,
                       std::initializer_list<Function> functions, SignRule sign = SignRule::kUnknown,
                       Form provisional = Form::kSame, std::initializer_list<Adjusts> adjusts = {}) {
    add(functions,
        {.section = section, .infer = infer, .sign = sign, .provisional = provisional, .adjusts = adjusts});
  };
  const auto commutative = [&](const InferFunction& infer, std::initializer_list<Function> functions,
                               SignRule sign = SignRule::kUnknown) {
    add(functions, {.section = "R 4.2.2", .infer = infer, .sign = sign, .is_commutative = true});
  };
  row("R 4.2.1", ProduceLikeInput, {"copy"}, SignRule::kNonNegativeIfFirst);
  row("R 4.2.1", ProduceLikeInput,
      {{"neg", "Negative", kWhole, kReduced},
       "rcp",
       {"log", "Log"},
       {"sin", "Sin"},
       {"cos", "Cos"},
       {"tan", "Tan"},
       {"sinh", "Sinh"},
       {"cosh", "Cosh"},
       {"tanh", "Tanh"},
       {"asin", "Asin"},
       {"acos", "Acos"},
       {"atan", "Atan"},
       {"asinh", "Asinh"},
       {"acosh", "Acosh"},
       {"atanh", "Atanh"},
       {"sign", "Sign", kWhole},
       {"floor", "Floor", kWhole},
       {"ceil", "Ceiling", kWhole},
       {"round", "", kWhole},
       {"not", "LogicalNot"}});
  row("R 4.2.1", ProduceLikeInput, {{"exp", "Exp"}, {"abs", "Abs", kWhole, kReduced}},
      SignRule::kNonNegative);
  row("R 4.2.4", ProduceLikeInput, {"rsqr", "rsqrt", "log2"});
  row("R 4.2.4", ProduceLikeInput, {{"sqr", "", kWhole, kReduced}, {"sqrt", "Sqrt"}}, SignRule::kNonNegative);
  row("R 4.2.2", ops::InferArithmetic,
      {{"sub", "Subtract", kUnknown, kReduced},
       {"div", "Divide", kQuotient, kReduced},
       {"pow", "Power", kPower, kReduced}});
  commutative(ops::InferArithmetic,
              {{"add", "Add", kUnknown, kReduced}, {"mul", "Multiply", kUnknown, kReduced}},
              SignRule::kNonNegativeIfAll);
  row("R 4.2.2", ops::InferLogical,
      {{"lt", "Less"}, {"gt", "Greater"}, {"le", "LessEqual"}, {"ge", "GreaterEqual"}});
  commutative(ops::InferLogical,
              {{"eq", "Equal"}, {"ne", "NotEqual"}, {"and", "LogicalAnd"}, {"or", "LogicalOr"}});
  // By definition, a NaN as first operand yields the second one. Minimum and Maximum do not specify this.
  row("R 4.2.4", ops::InferArithmetic, {{"min", "Minimum"}}, SignRule::kNonNegativeIfAll, Form::kMinMax);
  row("R 4.2.4", ops::InferArithmetic, {{"max", "Maximum"}}, SignRule::kNonNegativeIfAny, Form::kMinMax);
  row("R 4.2.3", ops::InferSelect, {{"select", "Select"}}, SignRule::kUnknown, Form::kSelect);
  row("R 4.2.4", ops::InferClamp, {"clamp"}, SignRule::kUnknown, Form::kClamp,
      {Adjusts::kNothing, Adjusts::kAnyExtent, Adjusts::kAnyExtent});
}

}  // namespace nnefc::ir::ops

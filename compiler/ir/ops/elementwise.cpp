#include "compiler/ir/ops/broadcast.h"
#include "compiler/ir/ops/register.h"
#include "compiler/ir/ops/rows.h"

namespace nnefc::ir {

namespace nnef {
namespace {

// R 4.2.2, R 4.2.4: the inputs broadcast.
void InferArithmetic(InferContext& context) {
  ProduceBroadcast(context, context.input(0).type, {0, 1});
}

// Comparisons, `and`, `or`.
void InferLogical(InferContext& context) {
  ProduceBroadcast(context, ElementType::kBoolean, {0, 1});
}

// R 4.2.3: condition and both values broadcast.
void InferSelect(InferContext& context) {
  ProduceBroadcast(context, context.input(1).type, {0, 1, 2});
}

void InferClamp(InferContext& context) {
  ProduceBroadcast(context, context.input(0).type, {0, 1, 2});
}

}  // namespace
}  // namespace nnef

void RegisterElementwise(OpRegistry& registry) {
  const auto row = [&](std::string_view section, InferFunction infer,
                       std::initializer_list<std::string_view> names, SignRule sign = SignRule::kUnknown) {
    nnef::AddRows(registry, names, {.section = section, .infer = infer, .sign = sign});
  };
  row("R 4.2.1", nnef::ProduceLikeInput, {"copy"}, SignRule::kNeverByFirst);
  row("R 4.2.1", nnef::ProduceLikeInput,
      {"neg",  "rcp",  "log",   "sin",   "cos",   "tan",  "sinh",  "cosh", "tanh",  "asin",
       "acos", "atan", "asinh", "acosh", "atanh", "sign", "floor", "ceil", "round", "not"});
  row("R 4.2.1", nnef::ProduceLikeInput, {"exp", "abs"}, SignRule::kNever);
  row("R 4.2.4", nnef::ProduceLikeInput, {"rsqr", "rsqrt", "log2"});
  row("R 4.2.4", nnef::ProduceLikeInput, {"sqr", "sqrt"}, SignRule::kNever);
  row("R 4.2.2", nnef::InferArithmetic, {"sub", "div", "pow"});
  row("R 4.2.2", nnef::InferArithmetic, {"add", "mul"}, SignRule::kNeverByAll);
  row("R 4.2.2", nnef::InferLogical, {"lt", "gt", "le", "ge", "eq", "ne", "and", "or"});
  row("R 4.2.4", nnef::InferArithmetic, {"min"}, SignRule::kNeverByAll);
  row("R 4.2.4", nnef::InferArithmetic, {"max"}, SignRule::kNeverByAny);
  row("R 4.2.3", nnef::InferSelect, {"select"});
  row("R 4.2.4", nnef::InferClamp, {"clamp"});
}

}  // namespace nnefc::ir

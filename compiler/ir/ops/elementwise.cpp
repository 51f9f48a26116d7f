#include "compiler/ir/ops/arguments.h"
#include "compiler/ir/ops/broadcast.h"
#include "compiler/ir/ops/register.h"
#include "compiler/ir/ops/rows.h"

namespace nnefc::ir {

namespace nnef {
namespace {

// R 4.2.1: the result has the type and shape of `x`.
template <DataType kType>
void InferUnary(InferContext& context) {
  if (!CheckSignature(context, {.inputs = {kType}})) return;
  Produce(context, 0, context.input(0).type, context.input(0).shape);
}

// R 4.2.2, R 4.2.4: the inputs broadcast.
void InferArithmetic(InferContext& context) {
  if (!CheckSignature(context, {.inputs = {DataType::kScalar, DataType::kScalar}})) return;
  ProduceBroadcast(context, context.input(0).type, {0, 1});
}

void InferComparison(InferContext& context) {
  if (!CheckSignature(context, {.inputs = {DataType::kScalar, DataType::kScalar}})) return;
  ProduceBroadcast(context, ElementType::kBoolean, {0, 1});
}

void InferLogical(InferContext& context) {
  if (!CheckSignature(context, {.inputs = {DataType::kLogical, DataType::kLogical}})) return;
  ProduceBroadcast(context, ElementType::kBoolean, {0, 1});
}

// R 4.2.3: condition and both values broadcast.
void InferSelect(InferContext& context) {
  if (!CheckSignature(context, {.inputs = {DataType::kLogical, DataType::kGeneric, DataType::kGeneric}}))
    return;
  ProduceBroadcast(context, context.input(1).type, {0, 1, 2});
}

void InferClamp(InferContext& context) {
  const DataType scalar = DataType::kScalar;
  if (!CheckSignature(context, {.inputs = {scalar, scalar, scalar}})) return;
  ProduceBroadcast(context, context.input(0).type, {0, 1, 2});
}

}  // namespace
}  // namespace nnef

void RegisterElementwise(OpRegistry& registry) {
  using nnef::DataType;
  const auto unary = [&](std::string_view section, InferFunction infer,
                         std::initializer_list<std::string_view> names, SignRule sign = SignRule::kUnknown) {
    nnef::AddRows(registry, names,
                  {.section = section, .inputs = {"x"}, .outputs = {"y"}, .infer = infer, .sign = sign});
  };
  const auto binary = [&](std::string_view section, InferFunction infer,
                          std::initializer_list<std::string_view> names, SignRule sign = SignRule::kUnknown) {
    nnef::AddRows(registry, names,
                  {.section = section, .inputs = {"x", "y"}, .outputs = {"z"}, .infer = infer, .sign = sign});
  };
  unary("R 4.2.1", nnef::InferUnary<DataType::kGeneric>, {"copy"}, SignRule::kNeverByFirst);
  unary("R 4.2.1", nnef::InferUnary<DataType::kScalar>,
        {"neg", "rcp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh",
         "acosh", "atanh", "sign", "floor", "ceil", "round"});
  unary("R 4.2.1", nnef::InferUnary<DataType::kScalar>, {"exp", "abs"}, SignRule::kNever);
  unary("R 4.2.1", nnef::InferUnary<DataType::kLogical>, {"not"});
  unary("R 4.2.4", nnef::InferUnary<DataType::kScalar>, {"rsqr", "rsqrt", "log2"});
  unary("R 4.2.4", nnef::InferUnary<DataType::kScalar>, {"sqr", "sqrt"}, SignRule::kNever);
  binary("R 4.2.2", nnef::InferArithmetic, {"sub", "div", "pow"});
  binary("R 4.2.2", nnef::InferArithmetic, {"add", "mul"}, SignRule::kNeverByAll);
  binary("R 4.2.2", nnef::InferComparison, {"lt", "gt", "le", "ge", "eq", "ne"});
  binary("R 4.2.2", nnef::InferLogical, {"and", "or"});
  binary("R 4.2.4", nnef::InferArithmetic, {"min"}, SignRule::kNeverByAll);
  binary("R 4.2.4", nnef::InferArithmetic, {"max"}, SignRule::kNeverByAny);
  nnef::AddRow(registry, {.name = "select",
                          .section = "R 4.2.3",
                          .inputs = {"condition", "true_value", "false_value"},
                          .infer = nnef::InferSelect});
  nnef::AddRow(registry, {.name = "clamp",
                          .section = "R 4.2.4",
                          .inputs = {"x", "a", "b"},
                          .outputs = {"y"},
                          .infer = nnef::InferClamp});
}

}  // namespace nnefc::ir

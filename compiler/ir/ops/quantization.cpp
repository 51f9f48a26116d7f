#include "compiler/ir/ops/broadcast.h"
#include "compiler/ir/ops/register.h"
#include "compiler/ir/ops/rows.h"

namespace nnefc::ir {

namespace nnef {
namespace {

// `2 ^ bits` is evaluated as an integer (R 4.9.5).
constexpr int64_t kMaxBits = 62;

// quantize.bits: at least `lowest`, and 2 ^ bits is an integer.
bool CheckBits(InferContext& context, int64_t lowest) {
  const int64_t bits = context.attribute("bits").AsInt();
  if (bits >= lowest && bits <= kMaxBits) return true;
  context.Error(kQuantizeBits, "{} is {}; expected {} to {}", Describe(context, "bits"), bits, lowest,
                kMaxBits);
  return false;
}

// `min_max_linear_quantize`: signed and symmetric, it has 2 ^ bits - 2 steps,
// by which it divides.
void InferMinMaxLinear(InferContext& context) {
  if (!CheckSignature(context, {.inputs = {kScalar, kScalar, kScalar},
                                .attributes = {{"bits", ArgumentKind::kInteger},
                                               {"signed", ArgumentKind::kLogical},
                                               {"symmetric", ArgumentKind::kLogical}}})) {
    return;
  }
  const bool reduced = context.attribute("signed").AsBool() && context.attribute("symmetric").AsBool();
  if (!CheckBits(context, reduced ? 2 : 1)) return;
  ProduceBroadcast(context, context.input(0).type, {0, 1, 2});
}

void InferZeroPointLinear(InferContext& context) {
  if (!CheckSignature(context, {.inputs = {kScalar, DataType::kInteger, kScalar},
                                .attributes = {{"bits", ArgumentKind::kInteger},
                                               {"signed", ArgumentKind::kLogical},
                                               {"symmetric", ArgumentKind::kLogical}}})) {
    return;
  }
  if (!CheckBits(context, 1)) return;
  ProduceBroadcast(context, context.input(0).type, {0, 1, 2});
}

void InferLinearQuantize(InferContext& context) {
  const AttributeRule bits{"bits", ArgumentKind::kInteger};
  if (!CheckSignature(context, {.inputs = {kScalar, kScalar, kScalar}, .attributes = bits})) return;
  if (!CheckBits(context, 1)) return;
  ProduceBroadcast(context, context.input(0).type, {0, 1, 2});
}

void InferLogarithmic(InferContext& context) {
  const AttributeRule bits{"bits", ArgumentKind::kInteger};
  if (!CheckSignature(context, {.inputs = {kScalar, kScalar}, .attributes = bits})) return;
  if (!CheckBits(context, 1)) return;
  ProduceBroadcast(context, context.input(0).type, {0, 1});
}

}  // namespace
}  // namespace nnef

void RegisterQuantization(OpRegistry& registry) {
  const auto row = [&](std::string_view name, std::vector<std::string_view> inputs, InferFunction infer) {
    nnef::AddRow(registry, {name, "R 4.9.5", std::move(inputs), {"y"}, infer});
  };
  row("min_max_linear_quantize", {"x", "min", "max"}, nnef::InferMinMaxLinear);
  row("zero_point_linear_quantize", {"x", "zero_point", "scale"}, nnef::InferZeroPointLinear);
  row("linear_quantize", {"x", "min", "max"}, nnef::InferLinearQuantize);
  row("logarithmic_quantize", {"x", "max"}, nnef::InferLogarithmic);
}

}  // namespace nnefc::ir

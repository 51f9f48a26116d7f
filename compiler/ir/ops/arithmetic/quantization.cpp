// Shape inference of NNEF's quantizations.

#include "compiler/ir/ops/arithmetic/broadcast.h"
#include "compiler/ir/ops/register.h"
#include "compiler/ir/ops/rows.h"

namespace nnefc::ir::ops {

namespace {

// The maximum of `bits`: `2 ^ bits` is evaluated as an integer (R 4.9.5).
constexpr int64_t kMaxBits = 62;

// quantize.bits: at least `lowest`, and 2 ^ bits is an integer.
bool CheckBits(InferContext& context, int64_t lowest) {
  const int64_t bits = context.attribute("bits").AsInt();
  if (bits >= lowest && bits <= kMaxBits) return true;
  context.Error(kQuantizeBits, "{} is {}; expected {} to {}", Describe(context, "bits"), bits, lowest,
                kMaxBits);
  return false;
}

// Infers `min_max_linear_quantize`. If it is signed and symmetric, it divides by its 2 ^ bits - 2 steps.
void InferMinMaxLinear(InferContext& context) {
  const bool reduced = context.attribute("signed").AsBool() && context.attribute("symmetric").AsBool();
  if (!CheckBits(context, reduced ? 2 : 1)) return;
  ProduceBroadcast(context, context.input(0).type, {0, 1, 2});
}

// Infers `zero_point_linear_quantize`, `linear_quantize`.
void InferLinearlyQuantized(InferContext& context) {
  if (!CheckBits(context, 1)) return;
  ProduceBroadcast(context, context.input(0).type, {0, 1, 2});
}

void InferLogarithmic(InferContext& context) {
  if (!CheckBits(context, 1)) return;
  ProduceBroadcast(context, context.input(0).type, {0, 1});
}

}  // namespace

void RegisterQuantization(OpRegistry& registry) {
  using enum Adjusts;
  const auto row = [&](std::string_view name, Quantizer quantizer, const InferFunction& infer,
                       std::initializer_list<Adjusts> adjusts = {kNothing, kAnyExtent, kAnyExtent}) {
    ops::AddRow(
        registry,
        {.name = name, .section = "R 4.9.5", .infer = infer, .quantizer = quantizer, .adjusts = adjusts});
  };
  row("min_max_linear_quantize", Quantizer::kMinMaxLinear, ops::InferMinMaxLinear);
  row("zero_point_linear_quantize", Quantizer::kZeroPointLinear, ops::InferLinearlyQuantized);
  row("linear_quantize", Quantizer::kLinear, ops::InferLinearlyQuantized);
  row("logarithmic_quantize", Quantizer::kLogarithmic, ops::InferLogarithmic, {kNothing, kAnyExtent});
}

}  // namespace nnefc::ir::ops

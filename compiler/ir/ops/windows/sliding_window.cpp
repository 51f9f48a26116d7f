// Shape inference of NNEF's sliding-window operations (R 4.3).

#include "compiler/ir/ops/windows/sliding_window.h"

#include "compiler/ir/ops/register.h"
#include "compiler/ir/ops/rows.h"
#include "compiler/ir/ops/windows/convolution.h"

namespace nnefc::ir::ops {

namespace {

// Returns the window of a pooling operation over all axes. Emits window.*.
std::optional<Window> PoolWindow(InferContext& context, IgnoreBorder ignore) {
  if (!CheckBorder(context, ignore)) return std::nullopt;
  const int64_t rank = context.input(0).shape.rank();
  if (!CheckSize(context, rank) || !CheckWindowLists(context, rank)) return std::nullopt;
  return WindowOf(context.node(), context.attribute("size").AsInts());
}

std::optional<PartialShape> PooledShape(InferContext& context, IgnoreBorder ignore) {
  const PartialShape& input = context.input(0).shape;
  if (!input.rank_known()) return PartialShape();
  const std::optional<Window> window = PoolWindow(context, ignore);
  if (!window) return std::nullopt;
  return Downscale(context, input, 0, *window);
}

// Infers `max_pool`, `avg_pool`, `rms_pool` (R 4.9.3), `box` (R 4.3.2), `argmax_pool` (R 4.3.3).
void InferPool(InferContext& context) {
  std::optional<PartialShape> output = PooledShape(context, IgnoreBorder::kAllowed);
  if (output) Produce(context, 0, context.input(0).type, std::move(*output));
}

void InferArgmaxPool(InferContext& context) {
  std::optional<PartialShape> index = PooledShape(context, IgnoreBorder::kAllowed);
  if (index) Produce(context, 0, ElementType::kI64, std::move(*index));
}

// Infers `max_pool_with_index` (R 4.9.3). Its body samples with the same border, and R 4.3.3 forbids `ignore`
// there. It is allowed here because `max_pool` has the same body and R 4.3.3 recommends `ignore` for
// `argmax_pool`: sampled positions are then never in the border.
void InferMaxPoolWithIndex(InferContext& context) {
  std::optional<PartialShape> output = PooledShape(context, IgnoreBorder::kAllowed);
  if (!output) return;
  Produce(context, 0, context.input(0).type, *output);
  if (!context.failed()) Produce(context, 1, ElementType::kI64, std::move(*output));
}

void InferDebox(InferContext& context) {
  const Output& input = context.input(0);
  if (!input.shape.rank_known()) return Produce(context, 0, input.type, PartialShape());
  const std::optional<Window> window = PoolWindow(context, IgnoreBorder::kAllowed);
  if (!window) return;
  std::optional<PartialShape> output = Upscale(context, input.shape, 0, *window);
  if (output) Produce(context, 0, input.type, std::move(*output));
}

// sample.index: the shape of `index` is that of the down-scaled tensor.
bool CheckIndex(InferContext& context, const PartialShape& downscaled, std::string_view like) {
  const PartialShape& index = context.input(1).shape;
  if (!index.rank_known() || !downscaled.rank_known()) return true;
  bool equal = index.rank() == downscaled.rank();
  for (int64_t axis = 0; equal && axis < index.rank(); ++axis)
    equal = index[axis].Compatible(downscaled[axis]);
  if (equal) return true;
  context.Error(kSampleIndex, "{} has shape {}; expected {}, the shape of `{}`", Describe(context, 1),
                ToString(index), ToString(downscaled), like);
  return false;
}

void InferSample(InferContext& context) {
  std::optional<PartialShape> output = PooledShape(context, IgnoreBorder::kForbidden);
  if (!output || !CheckIndex(context, *output, "output")) return;
  Produce(context, 0, context.input(0).type, std::move(*output));
}

// Infers `desample`, whose `border` must be 'constant' (R 4.3.3).
void InferDesample(InferContext& context) {
  const Output& input = context.input(0);
  if (!CheckChoice(context, kWindowBorder, "border", {"constant"})) return;
  if (!CheckIndex(context, input.shape, "input")) return;
  if (!input.shape.rank_known()) return Produce(context, 0, input.type, PartialShape());
  const std::optional<Window> window = PoolWindow(context, IgnoreBorder::kForbidden);
  if (!window) return;
  std::optional<PartialShape> output = Upscale(context, input.shape, 0, *window);
  if (output) Produce(context, 0, input.type, std::move(*output));
}

}  // namespace

void RegisterSlidingWindow(OpRegistry& registry) {
  using Data = DataRole;
  const auto convolution = [&](std::string_view name, const InferFunction& infer, WindowKind window) {
    AddRow(registry, {.name = name,
                      .section = "R 4.3.1",
                      .infer = infer,
                      .provisional = ProvisionalForm::kConv,
                      .window = window,
                      .narrow = NarrowIntegers::kReplaced,
                      .data = {Data::kFilter, Data::kFilter, Data::kBias},
                      .adjusts = {Adjusts::kNothing, Adjusts::kNothing, Adjusts::kChannels}});
  };
  const auto separable = [&](std::string_view name, const InferFunction& infer) {
    AddRow(registry,
           {.name = name,
            .section = "R 4.9.2",
            .infer = infer,
            .provisional = ProvisionalForm::kConv,
            .data = {Data::kFilter, Data::kFilter, Data::kFilter, Data::kBias},
            .adjusts = {Adjusts::kNothing, Adjusts::kNothing, Adjusts::kNothing, Adjusts::kChannels}});
  };
  const auto window = [&](std::string_view name, std::string_view section, const InferFunction& infer,
                          WindowKind kind, SignRule sign = SignRule::kUnknown) {
    AddRow(registry, {.name = name,
                      .section = section,
                      .infer = infer,
                      .sign = sign,
                      .provisional = ProvisionalForm::kBox,
                      .window = kind});
  };
  convolution("conv", ops::InferConv, WindowKind::kFilter);
  convolution("deconv", ops::InferDeconv, WindowKind::kScatter);
  window("box", "R 4.3.2", ops::InferPool, WindowKind::kSum, SignRule::kNonNegativeIfFirst);
  window("debox", "R 4.3.2", ops::InferDebox, WindowKind::kNone);
  window("argmax_pool", "R 4.3.3", ops::InferArgmaxPool, WindowKind::kMax);
  window("sample", "R 4.3.3", ops::InferSample, WindowKind::kNone);
  window("desample", "R 4.3.3", ops::InferDesample, WindowKind::kNone);
  separable("separable_conv", ops::InferSeparableConv);
  separable("separable_deconv", ops::InferSeparableDeconv);
  window("max_pool_with_index", "R 4.9.3", ops::InferMaxPoolWithIndex, WindowKind::kMax,
         SignRule::kNonNegativeIfFirst);
  window("max_pool", "R 4.9.3", ops::InferPool, WindowKind::kMax, SignRule::kNonNegativeIfFirst);
  window("avg_pool", "R 4.9.3", ops::InferPool, WindowKind::kAverage, SignRule::kNonNegativeIfFirst);
  window("rms_pool", "R 4.9.3", ops::InferPool, WindowKind::kAverage, SignRule::kNonNegative);
}

}  // namespace nnefc::ir::ops

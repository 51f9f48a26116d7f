// Shape inference of NNEF's convolutions and deconvolutions.

#include "compiler/ir/ops/windows/convolution.h"
#include "compiler/ir/wording.h"

#include <algorithm>

namespace nnefc::ir::ops {

namespace {

std::string Text(Dim dim) {
  const std::string list = ToString(PartialShape(llvm::ArrayRef<Dim>(dim)));
  return list.substr(1, list.size() - 2);
}

// conv.rank: the rank of `filter` equals that of `input`. Window sizes are positive extents of the filter.
bool CheckFilter(InferContext& context, const PartialShape& input, int32_t parameter) {
  const PartialShape& filter = context.segment(parameter)[0]->shape;
  if (input.rank() < 2) {
    context.Error(kConvRank, "{} has rank {}; expected at least 2", Describe(context, 0), input.rank());
    return false;
  }
  if (filter.rank() != input.rank()) {
    context.Error(kConvRank, "{} has rank {}; expected {}", Describe(context, parameter), filter.rank(),
                  input.rank());
    return false;
  }
  for (int64_t axis = 0; axis < filter.rank(); ++axis) {
    if (filter[axis].max > 0) continue;
    context.Error(kWindowSize, "{} is empty along axis {}", Describe(context, parameter), axis);
    return false;
  }
  return true;
}

bool CheckGroups(InferContext& context) {
  const int64_t groups = context.attribute("groups").AsInt();
  if (groups >= 0) return true;
  context.Error(kConvGroups, "{} is {}; expected 0 or more", Describe(context, "groups"), groups);
  return false;
}

// conv.groups: the number of groups divides the batch extent of `filter`.
bool CheckDivides(InferContext& context, Dim groups, Dim filters, int32_t parameter) {
  if (!groups.known() || !filters.known() || (groups.min > 0 && filters.min % groups.min == 0)) return true;
  context.ErrorAt(
      Describe(context, "groups"), kConvGroups, "{} of `{}` do not divide the batch extent {} of `{}`",
      groups.min == 1 ? "1 group" : fmt::format("{} groups", groups.min), OperationName(context.node()),
      filters.min, context.node().info().inputs[static_cast<size_t>(parameter)].name);
  return false;
}

bool AreEqual(Dim a, Dim b) {
  return a.known() && b.known() && a.min == b.min;
}

// Returns a hint if the filter's axes seem to be in TensorFlow's order, [extents.., inputs, outputs], for the
// input's channels; otherwise an empty text.
std::string OrderHint(const PartialShape& filter, Dim channels) {
  const int64_t rank = filter.rank();
  if (rank <= 2 || !AreEqual(filter[rank - 2], channels)) return "";
  const bool is_depthwise = AreEqual(filter[rank - 1], Dim(1));
  PartialShape ordered = filter;
  ordered.set(0, filter[is_depthwise ? rank - 2 : rank - 1]);
  ordered.set(1, filter[is_depthwise ? rank - 1 : rank - 2]);
  for (int64_t axis = 2; axis < rank; ++axis) ordered.set(axis, filter[axis - 2]);
  return fmt::format("; a filter is [outputs, inputs, extents..], which makes {} of TensorFlow's {}{}",
                     ToString(ordered), ToString(filter), is_depthwise ? " with `groups = 0`" : "");
}

std::string CountOf(Dim channels) {
  return fmt::format("{} channel{}", Text(channels), AreEqual(channels, Dim(1)) ? "" : "s");
}

// conv.bias: rank 0, or the channel extent is `channels` or 1 and all other extents are 1.
bool CheckBias(InferContext& context, int32_t parameter, Dim channels, int32_t filter_parameter = -1) {
  const Output* bias = FindInput(context, parameter);
  if (bias == nullptr || !bias->shape.rank_known()) return true;
  const PartialShape& shape = bias->shape;
  for (int64_t axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis].Compatible(Dim(1)) || (axis == 1 && shape[axis].Compatible(channels))) continue;
    if (axis == 1) {
      const PartialShape filter =
          filter_parameter < 0 ? PartialShape() : context.segment(filter_parameter)[0]->shape;
      const bool may_be_ordered =
          filter.rank_known() && filter.rank() > 2 && AreEqual(filter[filter.rank() - 1], shape[axis]);
      context.Error(kConvBias, "{} has {}; expected {} or 1{}", Describe(context, parameter),
                    CountOf(shape[axis]), Text(channels),
                    may_be_ordered ? OrderHint(filter, context.input(0).shape[1]) : "");
    } else {
      context.Error(kConvBias, "{} has shape {}; expected [1,{}], the channels at axis 1",
                    Describe(context, parameter), ToString(shape), Text(channels));
    }
    return false;
  }
  return true;
}

// Scales the spatial axes; unknown filter extents make their extents unknown.
template <typename Scale>
std::optional<PartialShape> ScaleSpatial(InferContext& context, const PartialShape& input,
                                         const PartialShape& filter, Scale scale) {
  Attribute::Integers size;
  bool known = true;
  for (Dim dim : filter.dims().drop_front(2)) {
    known = known && dim.known();
    size.push_back(dim.known() ? dim.min : 1);
  }
  if (known) return scale(context, input, 2, WindowOf(context.node(), size));
  PartialShape output = input;
  for (int64_t axis = 2; axis < output.rank(); ++axis) output.set(axis, Dim());
  return output;
}

// Returns a hint that the axes are in another framework's order, or that `groups` is wrong.
std::string ChannelsHint(InferContext& context, Dim channels, Dim per_group, Dim groups, int32_t parameter) {
  const PartialShape& filter = context.segment(parameter)[0]->shape;
  const PartialShape& input = context.input(0).shape;
  const bool is_whole = AreEqual(groups, Dim(1));
  if (const std::string hint = is_whole ? OrderHint(filter, channels) : ""; !hint.empty()) return hint;
  if (is_whole && AreEqual(per_group, Dim(1)) && channels.known() && filter[0].known() &&
      filter[0].min % channels.min == 0)
    return "; `groups = 0` convolves each channel by itself";
  if (input.rank() > 2 && AreEqual(input[input.rank() - 1], per_group))
    return "; an input is [batch, channels, extents..]";
  return "";
}

// conv.channels: `filter` of shape (c, C / G, ..) matches C input channels.
bool CheckInputChannels(InferContext& context, Dim channels, Dim per_group, Dim groups, int32_t parameter) {
  const std::optional<Dim> expected = Multiply(per_group, groups);
  if (expected && expected->Compatible(channels)) return true;
  const std::string hint = ChannelsHint(context, channels, per_group, groups, parameter);
  if (groups.known() && groups.min == 1) {
    context.Error(kConvChannels, "{} has {}; expected {}, as {} has{}", Describe(context, parameter),
                  CountOf(per_group), Text(channels), Describe(context, 0), hint);
    return false;
  }
  context.Error(kConvChannels, "{} has {} for each of {} groups; expected {} channels in all, as {} has{}",
                Describe(context, parameter), CountOf(per_group), Text(groups), Text(channels),
                Describe(context, 0), hint);
  return false;
}

struct Filtered {
  PartialShape input;
  int32_t filter = 1;
  int64_t groups = 1;
  bool windowed = true;  // false: stride 1, dilation 1, automatic padding
};

// Returns the shape of a convolution without bias: (B, c, x..).
std::optional<PartialShape> Convolve(InferContext& context, const Filtered& conv) {
  const PartialShape& filter = context.segment(conv.filter)[0]->shape;
  if (!conv.input.rank_known() || !filter.rank_known()) return PartialShape();
  if (!CheckFilter(context, conv.input, conv.filter)) return std::nullopt;
  if (conv.windowed && !CheckWindowLists(context, conv.input.rank() - 2)) return std::nullopt;
  const Dim groups = conv.groups == 0 ? conv.input[1] : Dim(conv.groups);
  if (!CheckInputChannels(context, conv.input[1], filter[1], groups, conv.filter)) return std::nullopt;
  if (!CheckDivides(context, groups, filter[0], conv.filter)) return std::nullopt;
  std::optional<PartialShape> output =
      conv.windowed ? ScaleSpatial(context, conv.input, filter, Downscale) : std::optional(conv.input);
  if (output) output->set(1, filter[0]);
  return output;
}

// Returns the channels of the result: (C / G) * G. With groups = 0, G = C, the channels of `output_shape`;
// without it, one channel per input channel.
std::optional<Dim> DeconvolvedChannels(InferContext& context, const Filtered& conv,
                                       const PartialShape& filter) {
  if (conv.groups > 0) return Multiply(filter[1], Dim(conv.groups));
  if (conv.windowed) {
    const Attribute::Integers given = context.attribute("output_shape").AsInts();
    if (given.size() == static_cast<size_t>(filter.rank())) return Dim(given[1]);
  }
  return conv.input[1];
}

// Returns the shape of a deconvolution without bias: (B, C, X..).
std::optional<PartialShape> Deconvolve(InferContext& context, const Filtered& conv) {
  const PartialShape& filter = context.segment(conv.filter)[0]->shape;
  if (!conv.input.rank_known() || !filter.rank_known()) return PartialShape();
  if (!CheckFilter(context, conv.input, conv.filter)) return std::nullopt;
  if (conv.windowed && !CheckWindowLists(context, conv.input.rank() - 2)) return std::nullopt;
  if (!filter[0].Compatible(conv.input[1])) {
    context.Error(kConvChannels, "{} has batch extent {}; expected {}, the channels of its input",
                  Describe(context, conv.filter), Text(filter[0]), Text(conv.input[1]));
    return std::nullopt;
  }
  const std::optional<Dim> channels = DeconvolvedChannels(context, conv, filter);
  if (!channels) {
    context.Error(kShapeOverflow, "the result of `{}` has too many channels", OperationName(context.node()));
    return std::nullopt;
  }
  if (conv.groups == 0 && !filter[1].Compatible(Dim(1))) {
    context.Error(kConvChannels, "{} has {} channels; expected 1, since each channel is a group",
                  Describe(context, conv.filter), Text(filter[1]));
    return std::nullopt;
  }
  const Dim groups = conv.groups == 0 ? *channels : Dim(conv.groups);
  if (!CheckDivides(context, groups, filter[0], conv.filter)) return std::nullopt;
  PartialShape downscaled = conv.input;
  downscaled.set(1, *channels);
  if (!conv.windowed) return downscaled;
  return ScaleSpatial(context, downscaled, filter, Upscale);
}

Dim Channels(const PartialShape& shape) {
  return shape.rank_known() ? shape[1] : Dim();
}

}  // namespace

// Infers [B, c, x..] of `conv`. Emits conv.rank, conv.groups, conv.channels, conv.bias and the window rules.
void InferConv(InferContext& context) {
  if (!CheckBorder(context, IgnoreBorder::kForbidden) || !CheckGroups(context)) return;
  const Output& input = context.input(0);
  std::optional<PartialShape> output =
      Convolve(context, {.input = input.shape, .groups = context.attribute("groups").AsInt()});
  if (!output || !CheckBias(context, 2, Channels(*output), 1)) return;
  Produce(context, 0, input.type, std::move(*output));
}

// Infers [B, C, X..] of `deconv`.
void InferDeconv(InferContext& context) {
  if (!CheckBorder(context, IgnoreBorder::kForbidden) || !CheckGroups(context)) return;
  const Output& input = context.input(0);
  std::optional<PartialShape> output =
      Deconvolve(context, {.input = input.shape, .groups = context.attribute("groups").AsInt()});
  if (!output || !CheckBias(context, 2, Channels(*output))) return;
  Produce(context, 0, input.type, std::move(*output));
}

// Infers `separable_conv` like its body: a depth-wise convolution by `plane_filter`, then a convolution by
// `point_filter` with automatic padding and stride 1, so that the spatial extents are preserved.
void InferSeparableConv(InferContext& context) {
  if (!CheckBorder(context, IgnoreBorder::kForbidden) || !CheckGroups(context)) return;
  const Output& input = context.input(0);
  std::optional<PartialShape> filtered = Convolve(context, {.input = input.shape, .filter = 1, .groups = 0});
  if (!filtered) return;
  std::optional<PartialShape> output = Convolve(context, {.input = std::move(*filtered),
                                                          .filter = 2,
                                                          .groups = context.attribute("groups").AsInt(),
                                                          .windowed = false});
  if (!output || !CheckBias(context, 3, Channels(*output))) return;
  Produce(context, 0, input.type, std::move(*output));
}

// Infers `separable_deconv` like its body: a deconvolution by `point_filter`, then a depth-wise one by
// `plane_filter`.
void InferSeparableDeconv(InferContext& context) {
  if (!CheckBorder(context, IgnoreBorder::kForbidden) || !CheckGroups(context)) return;
  const Output& input = context.input(0);
  std::optional<PartialShape> filtered = Deconvolve(
      context,
      {.input = input.shape, .filter = 2, .groups = context.attribute("groups").AsInt(), .windowed = false});
  if (!filtered) return;
  std::optional<PartialShape> output =
      Deconvolve(context, {.input = std::move(*filtered), .filter = 1, .groups = 0});
  if (!output || !CheckBias(context, 3, Channels(*output))) return;
  Produce(context, 0, input.type, std::move(*output));
}

}  // namespace nnefc::ir::ops

// Output extents of NNEF's sliding windows along one axis.

#include "compiler/ir/ops/windows/sliding_window_shape.h"

#include <algorithm>

namespace nnefc::ir::ops {

Wide DilatedSize(const WindowAxis& axis) {
  return (Wide{axis.size} - 1) * axis.dilation + 1;
}

WindowExtent DownscaledExtent(Dim upscaled, const WindowAxis& axis) {
  if (!axis.padding) {
    const auto extent = MapDim(upscaled, [&](Wide x) { return CeilDiv(x, axis.stride); });
    return extent ? WindowExtent{*extent} : WindowExtent{Dim(), WindowProblem::kOverflow};
  }
  // p + q - f_d
  const Wide margin = Wide{axis.padding->first} + axis.padding->second - DilatedSize(axis);
  if (upscaled.max != Dim::kUnbounded && upscaled.max + margin < 0) return {Dim(), WindowProblem::kTooLarge};
  if (upscaled.min + margin < 0) {
    const std::optional<int64_t> lowest = NarrowExtent(-margin);
    if (!lowest) return {Dim(), WindowProblem::kOverflow};
    upscaled.min = *lowest;
  }
  const auto extent = MapDim(upscaled, [&](Wide x) { return FloorDiv(x + margin, axis.stride) + 1; });
  return extent ? WindowExtent{*extent} : WindowExtent{Dim(), WindowProblem::kOverflow};
}

WindowExtent UpscaledExtent(Dim downscaled, const WindowAxis& axis) {
  const auto upscale = [&](Wide x) -> Wide {
    if (!axis.padding) return x * axis.stride;
    return (x - 1) * axis.stride + DilatedSize(axis) - axis.padding->first - axis.padding->second;
  };
  if (downscaled.max != Dim::kUnbounded && upscale(downscaled.max) < 1) return {Dim(), WindowProblem::kEmpty};
  const auto extent = MapDim(downscaled, [&](Wide x) { return std::max<Wide>(upscale(x), 0); });
  return extent ? WindowExtent{*extent} : WindowExtent{Dim(), WindowProblem::kOverflow};
}

std::optional<std::pair<int64_t, int64_t>> ResolvedPadding(int64_t upscaled, const WindowAxis& axis) {
  if (axis.padding) return axis.padding;
  const Wide x = CeilDiv(upscaled, axis.stride);
  const Wide total = std::max<Wide>((x - 1) * axis.stride + DilatedSize(axis) - upscaled, 0);
  const std::optional<int64_t> before = NarrowExtent(total / 2);
  const std::optional<int64_t> after = NarrowExtent(total - total / 2);
  if (!before || !after) return std::nullopt;
  return std::pair(*before, *after);
}

std::optional<WindowReads> UpscalingReads(const WindowAxis& axis, Wide before, Wide upscaled) {
  // The remainders of j * d repeat. Beyond this number of taps the search stops and assumes the full range.
  constexpr Wide kMaxTaps = 1 << 16;
  const Wide taps = std::min({Wide{axis.size}, Wide{axis.stride}, kMaxTaps});
  const Wide farthest = DilatedSize(axis) - 1;
  std::optional<Wide> first, last;
  for (Wide j = 0; j < taps && !(first && last); ++j) {
    const Wide low = before - farthest + j * axis.dilation;
    const Wide high = before + upscaled - 1 - j * axis.dilation;
    const Wide lowest = CeilDiv(low, axis.stride);
    const Wide highest = FloorDiv(high, axis.stride);
    if (!first && lowest * axis.stride < low + upscaled) first = lowest;
    if (!last && highest * axis.stride > high - upscaled) last = highest;
  }
  if (taps == kMaxTaps) {
    first = first.value_or(CeilDiv(before - farthest, axis.stride));
    last = last.value_or(FloorDiv(before + upscaled - 1, axis.stride));
  }
  if (!first || !last) return std::nullopt;
  return WindowReads{*first, *last};
}

Window WindowOf(const Node& node, llvm::ArrayRef<int64_t> size) {
  const Attribute::Integers stride = node.attribute("stride").AsInts();
  const Attribute::Integers dilation = node.attribute("dilation").AsInts();
  const Padding padding = node.attribute("padding").AsPairs();
  Window window(size.size());
  for (size_t i = 0; i < size.size(); ++i) {
    window[i].size = size[i];
    if (!stride.empty()) window[i].stride = stride[i];
    if (!dilation.empty()) window[i].dilation = dilation[i];
    if (!padding.empty()) window[i].padding = padding[i];
  }
  return window;
}

std::optional<Padding> ResolvedPaddings(const Window& window, llvm::ArrayRef<int64_t> upscaled) {
  NNEFC_CHECK(window.size() == upscaled.size());
  Padding paddings;
  for (size_t i = 0; i < window.size(); ++i) {
    const auto padding = ResolvedPadding(upscaled[i], window[i]);
    if (!padding) return std::nullopt;
    paddings.push_back(*padding);
  }
  return paddings;
}

namespace {

constexpr std::string_view kOpenPadding = "open_padding";

}  // namespace

void SetOpenPadding(Graph& graph, NodeId node, int64_t axis) {
  graph.SetRtInfo(node, kOpenPadding, axis);
}

std::optional<int64_t> OpenPadding(const Node& node) {
  const Attribute* axis = node.rt_info().Find(kOpenPadding);
  return axis == nullptr ? std::nullopt : std::optional(axis->AsInt());
}

}  // namespace nnefc::ir::ops

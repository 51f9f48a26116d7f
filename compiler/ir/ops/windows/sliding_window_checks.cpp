// Checks of the attributes of NNEF's sliding-window operations, and of the reach of their padding.

#include <algorithm>

#include "compiler/ir/ops/windows/sliding_window.h"
#include "compiler/ir/wording.h"
#include "fmt/ranges.h"

namespace nnefc::ir::ops {

bool CheckBorder(InferContext& context, IgnoreBorder ignore) {
  llvm::SmallVector<std::string_view, 5> choices;
  if (ignore == IgnoreBorder::kAllowed) choices.push_back("ignore");
  choices.append(std::begin(kBorders), std::end(kBorders));
  return CheckChoice(context, kWindowBorder, "border", choices);
}

namespace {

bool CheckPositive(InferContext& context, const Rule& rule, std::string_view name,
                   llvm::ArrayRef<int64_t> items) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i] > 0) continue;
    context.Error(rule, "{} is {}; expected a positive number", Describe(context, name, i), items[i]);
    return false;
  }
  return true;
}

// Returns the items of a list as text: `(0,0)` of padding.
std::vector<std::string> ItemTexts(const Attribute& list) {
  std::vector<std::string> texts;
  if (const auto* integers = list.get<Attribute::Integers>()) {
    for (int64_t item : *integers) texts.push_back(fmt::format("{}", item));
  } else if (const auto* pairs = list.get<AttributeList>()) {
    for (const Attribute& pair : pairs->items)
      texts.push_back(fmt::format("({})", fmt::join(ItemTexts(pair), ",")));
  }
  return texts;
}

// Converts another framework's list to one of `expected` items. One item is repeated for all spatial axes;
// neutral items for batch and channels are added or removed. Returns an empty text if that is not possible.
std::string ListOf(InferContext& context, std::string_view name, int64_t expected) {
  std::vector<std::string> items = ItemTexts(context.attribute(name));
  const std::string_view neutral = name == "padding" ? "(0,0)" : "1";
  const bool spans_all = context.FindAttribute("size") != nullptr;  // includes batch and channels
  const int64_t spatial = spans_all ? expected - 2 : expected;
  if (spatial < 1) return "";
  if (items.size() == 1) items.resize(static_cast<size_t>(spatial), items.front());
  if (spans_all && items.size() == static_cast<size_t>(spatial))
    items.insert(items.begin(), 2, std::string(neutral));
  const bool has_surplus =
      items.size() == static_cast<size_t>(expected) + 2 && items[0] == neutral && items[1] == neutral;
  if (has_surplus) items.erase(items.begin(), items.begin() + 2);
  if (items.size() != static_cast<size_t>(expected)) return "";
  return fmt::format("[{}]", fmt::join(items, ","));
}

bool CheckLength(InferContext& context, const Rule& rule, std::string_view name, size_t length,
                 int64_t expected) {
  if (length == 0 || length == static_cast<size_t>(expected)) return true;
  context.ErrorWithFix(ListOf(context, name, expected), rule, "{} has {} item{}; expected {} or none",
                       Describe(context, name), length, length == 1 ? "" : "s", expected);
  return false;
}

}  // namespace

bool CheckWindowLists(InferContext& context, int64_t count) {
  const Attribute::Integers stride = context.attribute("stride").AsInts();
  const Attribute::Integers dilation = context.attribute("dilation").AsInts();
  return CheckLength(context, kWindowPadding, "padding", context.attribute("padding").ListSize(), count) &&
         CheckLength(context, kWindowStride, "stride", stride.size(), count) &&
         CheckLength(context, kWindowDilation, "dilation", dilation.size(), count) &&
         CheckPositive(context, kWindowStride, "stride", stride) &&
         CheckPositive(context, kWindowDilation, "dilation", dilation);
}

bool CheckSize(InferContext& context, int64_t rank) {
  const Attribute::Integers size = context.attribute("size").AsInts();
  if (size.size() != static_cast<size_t>(rank)) {
    context.ErrorWithFix(ListOf(context, "size", rank), kWindowSize,
                         "{} has {} item{}; expected {}: windows of {} span batch and channels too",
                         Describe(context, "size"), size.size(), size.size() == 1 ? "" : "s", rank,
                         Describe(context, 0));
    return false;
  }
  return CheckPositive(context, kWindowSize, "size", size);
}

namespace {

std::string PaddingText(const WindowAxis& axis) {
  return axis.padding ? fmt::format("({},{})", axis.padding->first, axis.padding->second)
                      : "automatic padding";
}

// Returns the argument that determines the window size: `size`, or the first filter.
Argument WindowArgument(const InferContext& context) {
  return context.FindAttribute("size") != nullptr ? Describe(context, "size") : Describe(context, 1);
}

bool ReportProblem(InferContext& context, WindowProblem problem, int64_t axis, Dim extent,
                   const WindowAxis& window) {
  switch (problem) {
    case WindowProblem::kNone:
      return true;
    case WindowProblem::kTooLarge:
      context.ErrorAt(
          WindowArgument(context), kWindowFit,
          "the window of `{}` does not fit along axis {}: extent {}, padding {}, size {}, dilation {}",
          OperationName(context.node()), axis, ToString(PartialShape(llvm::ArrayRef<Dim>(extent))),
          PaddingText(window), window.size, window.dilation);
      return false;
    case WindowProblem::kEmpty:
      context.ErrorAt(
          WindowArgument(context), kWindowFit,
          "the result of `{}` is empty along axis {}: extent {}, padding {}, size {}, stride {}, dilation {}",
          OperationName(context.node()), axis, ToString(PartialShape(llvm::ArrayRef<Dim>(extent))),
          PaddingText(window), window.size, window.stride, window.dilation);
      return false;
    case WindowProblem::kOverflow:
      context.Error(kShapeOverflow, "the result of `{}` has too many elements along axis {}",
                    OperationName(context.node()), axis);
      return false;
  }
  return false;
}

// Checks the numbers of elements that are read before and after an axis (R 4.3, border modes). `reflect`
// reaches x - 1 elements into the input and `reflect-even` x, since the formulas reflect once.
bool CheckReach(InferContext& context, int64_t axis, int64_t extent, Wide before, Wide after) {
  const std::string& border = context.attribute("border").AsString();
  const int64_t reach = border == "reflect" ? extent - 1 : extent;
  if (before <= reach && after <= reach) return true;
  context.ErrorAt(Describe(context, "border"), kWindowReach,
                  "border '{}' of `{}` reaches {} elements beyond axis {}, which has extent {}", border,
                  OperationName(context.node()), static_cast<int64_t>(before > reach ? before : after), axis,
                  extent);
  return false;
}

bool Reflects(const InferContext& context) {
  const std::string& border = context.attribute("border").AsString();
  return border == "reflect" || border == "reflect-even";
}

bool CheckDownscalingReach(InferContext& context, int64_t axis, Dim extent, const WindowAxis& window) {
  if (!extent.known() || !Reflects(context)) return true;
  const auto padding = ResolvedPadding(extent.min, window);
  if (!padding) return true;
  // Windows advance in whole strides, so the last one may end before the last padded element.
  const WindowExtent result = DownscaledExtent(extent, window);
  if (result.problem != WindowProblem::kNone || !result.extent.known()) return true;
  const Wide last = (Wide{result.extent.min} - 1) * window.stride + DilatedSize(window) - 1 - padding->first;
  return CheckReach(context, axis, extent.min, padding->first, last - (extent.min - 1));
}

// Checks the border of the input, the down-scaled tensor.
bool CheckUpscalingReach(InferContext& context, int64_t axis, Dim extent, Dim upscaled,
                         const WindowAxis& window) {
  if (!extent.known() || !upscaled.known() || !Reflects(context)) return true;
  const auto padding = ResolvedPadding(upscaled.min, window);
  if (!padding) return true;
  const auto reads = UpscalingReads(window, padding->first, upscaled.min);
  return !reads || CheckReach(context, axis, extent.min, -reads->first, reads->last - (extent.min - 1));
}

}  // namespace

std::optional<PartialShape> Downscale(InferContext& context, const PartialShape& input, int64_t first,
                                      const Window& window) {
  PartialShape output = input;
  for (size_t i = 0; i < window.size(); ++i) {
    const int64_t axis = first + static_cast<int64_t>(i);
    const WindowExtent result = DownscaledExtent(input[axis], window[i]);
    if (!ReportProblem(context, result.problem, axis, input[axis], window[i])) return std::nullopt;
    if (!CheckDownscalingReach(context, axis, input[axis], window[i])) return std::nullopt;
    output.set(axis, result.extent);
  }
  return output;
}

namespace {

// Formats the extents that scale down to `extent`: "31 or 32".
std::string UpscaledText(int64_t extent, const WindowAxis& axis) {
  const int64_t margin =
      axis.padding ? (axis.size - 1) * axis.dilation - axis.padding->first - axis.padding->second : 0;
  const int64_t least = std::max<int64_t>((extent - 1) * axis.stride + 1 + margin, 1);
  const int64_t most = std::max(extent * axis.stride + margin, least);
  if (least == most) return fmt::format("{}", least);
  return fmt::format("{} {} {}", least, most == least + 1 ? "or" : "to", most);
}

std::optional<PartialShape> GivenShape(InferContext& context, const PartialShape& input, int64_t first,
                                       const Window& window, llvm::ArrayRef<int64_t> given) {
  if (given.size() != static_cast<size_t>(input.rank())) {
    context.Error(kWindowOutputShape, "{} has {} items; expected {} or none",
                  Describe(context, "output_shape"), given.size(), input.rank());
    return std::nullopt;
  }
  if (!CheckPositive(context, kWindowOutputShape, "output_shape", given)) return std::nullopt;
  for (int64_t axis = 0; axis < input.rank(); ++axis) {
    const Dim wanted(given[static_cast<size_t>(axis)]);
    WindowExtent downscaled{wanted};
    const int64_t item = axis - first;
    if (item >= 0) {
      downscaled = DownscaledExtent(wanted, window[static_cast<size_t>(item)]);
      if (!ReportProblem(context, downscaled.problem, axis, wanted, window[static_cast<size_t>(item)]))
        return std::nullopt;
    }
    if (downscaled.extent.Compatible(input[axis])) {
      if (item >= 0 &&
          !CheckUpscalingReach(context, axis, input[axis], wanted, window[static_cast<size_t>(item)]))
        return std::nullopt;
      continue;
    }
    const auto name = Describe(context, "output_shape", static_cast<size_t>(axis));
    if (item >= 0 && input[axis].known()) {
      context.Error(kWindowOutputShape, "{} is {}; stride {} makes {} of {}", name, wanted.min,
                    window[static_cast<size_t>(item)].stride,
                    UpscaledText(input[axis].min, window[static_cast<size_t>(item)]), input[axis].min);
    } else {
      context.Error(kWindowOutputShape, "{} is {}, which scales down to {}; expected {}", name, wanted.min,
                    downscaled.extent.min, ToString(PartialShape(llvm::ArrayRef<Dim>(input[axis]))));
    }
    return std::nullopt;
  }
  return PartialShape(given);
}

}  // namespace

std::optional<PartialShape> Upscale(InferContext& context, const PartialShape& input, int64_t first,
                                    const Window& window) {
  const Attribute* given = context.FindAttribute("output_shape");
  if (given != nullptr && given->ListSize() > 0)
    return GivenShape(context, input, first, window, given->AsInts());
  PartialShape output = input;
  for (size_t i = 0; i < window.size(); ++i) {
    const int64_t axis = first + static_cast<int64_t>(i);
    const WindowExtent result = UpscaledExtent(input[axis], window[i]);
    if (!ReportProblem(context, result.problem, axis, input[axis], window[i])) return std::nullopt;
    if (!CheckUpscalingReach(context, axis, input[axis], result.extent, window[i])) return std::nullopt;
    output.set(axis, result.extent);
  }
  return output;
}

}  // namespace nnefc::ir::ops

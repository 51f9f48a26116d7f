// Windows of NNEF operations, resolved for lowering.

#include "compiler/lower/windows/window.h"

#include <algorithm>

#include "compiler/ir/ops/opset/dims.h"
#include "compiler/ir/wording.h"
#include "llvm/ADT/StringSwitch.h"

namespace nnefc::lower {

Window Window::Select(llvm::ArrayRef<int64_t> axes) const {
  Window selected;
  selected.border = border;
  selected.same_upper = same_upper;
  for (int64_t axis : axes) {
    const auto i = static_cast<size_t>(axis);
    selected.size.push_back(size[i]);
    selected.stride.push_back(stride[i]);
    selected.dilation.push_back(dilation[i]);
    selected.pad_begin.push_back(pad_begin[i]);
    selected.pad_end.push_back(pad_end[i]);
  }
  return selected;
}

namespace {

Window UnpaddedWindow(std::vector<int64_t> size) {
  Window window;
  const size_t rank = size.size();
  window.size = std::move(size);
  window.stride.assign(rank, 1);
  window.dilation.assign(rank, 1);
  window.pad_begin.assign(rank, 0);
  window.pad_end.assign(rank, 0);
  return window;
}

void ReportAutomaticPadding(NodeLowering& n, const Window& window, size_t axis) {
  const auto leading = n.input_rank(0) - static_cast<int64_t>(window.rank());
  n.UnknownExtent("the tensor under an automatically padded window", leading + static_cast<int64_t>(axis));
}

// Resolves automatic padding (R 4.3): the down-scaled extent is ceil(X / s).
bool PadAutomatically(NodeLowering& n, const WindowSource& source, Window& window, size_t axis) {
  const int64_t stride = window.stride[axis];
  const int64_t reach = window.reach(axis);
  const ir::Dim extent = source.extents[static_cast<int64_t>(axis)];
  int64_t total = reach - stride;  // if the stride divides the up-scaled extent
  if (source.backward && !source.output_shape.empty()) {
    const int64_t scaled = source.output_shape[axis];
    total = static_cast<int64_t>((ir::CeilDiv(scaled, stride) - 1) * stride + reach - scaled);
  } else if (!source.backward && stride != 1) {
    if (!extent.known()) {
      window.same_upper = source.may_defer;
      if (!source.may_defer) ReportAutomaticPadding(n, window, axis);
      return source.may_defer;
    }
    total = static_cast<int64_t>((ir::CeilDiv(extent.value(), stride) - 1) * stride + reach - extent.value());
  }
  total = std::max<int64_t>(total, 0);
  window.pad_begin[axis] = total / 2;
  window.pad_end[axis] = total - total / 2;
  return true;
}

bool PadAllAutomatically(NodeLowering& n, const WindowSource& source, Window& window) {
  bool padded = true;
  for (size_t i = 0; i < window.rank(); ++i) padded &= PadAutomatically(n, source, window, i);
  if (window.same_upper) {
    window.pad_begin.assign(window.rank(), 0);
    window.pad_end.assign(window.rank(), 0);
  }
  return padded;
}

}  // namespace

namespace {

// Emits kWindowTooLarge unless products of two of the window's quantities fit 63 bits.
bool HasModestSizes(NodeLowering& n, const WindowSource& source, const Window& window) {
  constexpr int64_t kLargest = int64_t{1} << 31;
  const auto is_modest = [](int64_t value) { return value <= kLargest && value >= -kLargest; };
  bool modest = true;
  for (const auto* list : {&window.size, &window.stride, &window.dilation, &window.pad_begin, &window.pad_end,
                           &source.output_shape}) {
    modest &= std::all_of(list->begin(), list->end(), is_modest);
  }
  for (ir::Dim dim : source.extents.dims()) modest &= !dim.known() || is_modest(dim.value());
  if (!modest)
    n.Error(kWindowTooLarge, "the window of `{}`, or what it slides along, is larger than 2^31",
            ir::OperationName(n.node()));
  return modest;
}

}  // namespace

std::optional<Window> ReadWindow(NodeLowering& n, WindowSource source) {
  Window window = UnpaddedWindow(source.size);
  window.border = n.String("border");
  const std::vector<int64_t> stride = n.Ints("stride");
  const std::vector<int64_t> dilation = n.Ints("dilation");
  if (!stride.empty()) window.stride = stride;
  if (!dilation.empty()) window.dilation = dilation;
  NNEFC_CHECK(window.stride.size() == window.rank() && window.dilation.size() == window.rank());
  const auto padding = n.node().attribute("padding").AsPairs();
  if (!HasModestSizes(n, source, window)) return std::nullopt;
  if (padding.empty()) {
    if (!PadAllAutomatically(n, source, window)) return std::nullopt;
    return window;
  }
  NNEFC_CHECK(padding.size() == window.rank());
  for (size_t i = 0; i < padding.size(); ++i) {
    window.pad_begin[i] = padding[i].first;
    window.pad_end[i] = padding[i].second;
  }
  if (!HasModestSizes(n, source, window)) return std::nullopt;
  return window;
}

std::optional<Window> AutomaticWindow(NodeLowering& n, WindowSource source) {
  Window window = UnpaddedWindow(source.size);
  if (!HasModestSizes(n, source, window)) return std::nullopt;
  if (!PadAllAutomatically(n, source, window)) return std::nullopt;
  return window;
}

Window BlockWindow(std::vector<int64_t> size, size_t rank) {
  size.insert(size.begin(), rank - size.size(), 1);
  Window window = UnpaddedWindow(std::move(size));
  window.stride = window.size;
  return window;
}

// ---- padding ----

std::string_view PadMode(const std::string& border) {
  const llvm::StringRef mode = llvm::StringSwitch<llvm::StringRef>(border)
                                   .Case("constant", "constant")
                                   .Case("replicate", "edge")
                                   .Case("reflect", "reflect")
                                   .Case("reflect-even", "symmetric")
                                   .Default("");
  NNEFC_CHECK(!mode.empty());  // window.border, pad.border, sampling.border
  return mode;
}

OutputPort Pad(NodeLowering& n, OutputPort x, llvm::ArrayRef<int64_t> begin, llvm::ArrayRef<int64_t> end,
               std::string_view mode, double value, std::string_view suffix) {
  const auto is_zero = [](int64_t pad) { return pad == 0; };
  const auto is_negative = [](int64_t pad) { return pad < 0; };
  if (mode.empty() ||
      (std::all_of(begin.begin(), begin.end(), is_zero) && std::all_of(end.begin(), end.end(), is_zero))) {
    return x;
  }
  const bool crops = std::any_of(begin.begin(), begin.end(), is_negative) ||
                     std::any_of(end.begin(), end.end(), is_negative);
  // The border is that of the whole tensor: elements cropped at one end may be reflected at the other.
  if (crops && mode != "constant") {
    const auto part = [](llvm::ArrayRef<int64_t> pads, bool negative) {
      std::vector<int64_t> items;
      for (int64_t pad : pads) items.push_back((pad < 0) == negative ? pad : 0);
      return items;
    };
    x = Pad(n, x, part(begin, false), part(end, false), mode, value, suffix);
    return Pad(n, x, part(begin, true), part(end, true), "constant", 0.0, fmt::format("{}_crop", suffix));
  }
  std::vector<OutputPort> inputs{x, n.ConstInts(begin, fmt::format("{}_begin", suffix)),
                                 n.ConstInts(end, fmt::format("{}_end", suffix))};
  if (mode == "constant" && value != 0) {
    const std::string name = fmt::format("{}_value", suffix);
    const bool is_integer = n.target().output(x).type == ElementType::kI64;
    inputs.push_back(is_integer ? n.ConstInt(static_cast<int64_t>(value), name) : n.ConstFloat(value, name));
  }
  return n.Add(crops ? "opset12" : "opset1", "Pad", inputs, Attributes({{"pad_mode", mode}}), suffix);
}

OutputPort PadBy(NodeLowering& n, const ir::Node& pad, OutputPort x, double value) {
  std::vector<int64_t> begin, end;
  for (const auto& [p, q] : pad.attribute("padding").AsPairs()) {
    begin.push_back(p);
    end.push_back(q);
  }
  return Pad(n, x, begin, end, PadMode(pad.attribute("border").AsString()), value);
}

namespace {

std::vector<int64_t> WithLeadingZeros(const std::vector<int64_t>& pads, size_t leading) {
  std::vector<int64_t> full(leading, 0);
  full.insert(full.end(), pads.begin(), pads.end());
  return full;
}

// Removes padding after the last window position, since a single reflection might not fill it.
void TrimPadding(const PartialShape& shape, Window& window, size_t leading) {
  for (size_t i = 0; shape.rank_known() && i < window.rank(); ++i) {
    const ir::Dim extent = shape[static_cast<int64_t>(leading + i)];
    if (!extent.known()) continue;
    const int64_t margin = window.pad_begin[i] + extent.value() + window.pad_end[i] - window.reach(i);
    if (margin > 0) window.pad_end[i] -= margin % window.stride[i];
  }
}

}  // namespace

OutputPort PadBeforehand(NodeLowering& n, OutputPort x, Window& window, size_t leading, double value) {
  if (window.same_upper) {
    const auto strided =
        std::find_if(window.stride.begin(), window.stride.end(), [](int64_t s) { return s != 1; });
    ReportAutomaticPadding(n, window, static_cast<size_t>(strided - window.stride.begin()));
    return x;
  }
  if (!window.IsPadded()) return x;
  if (window.border == "reflect" || window.border == "reflect-even") {
    TrimPadding(n.target().output(x).shape, window, leading);
  }
  const std::string border = window.border == "ignore" ? "constant" : window.border;
  const OutputPort padded = Pad(n, x, WithLeadingZeros(window.pad_begin, leading),
                                WithLeadingZeros(window.pad_end, leading), PadMode(border), value);
  window.pad_begin.assign(window.rank(), 0);
  window.pad_end.assign(window.rank(), 0);
  return padded;
}

OutputPort CropBeforehand(NodeLowering& n, OutputPort x, Window& window, size_t leading) {
  if (window.border != "constant" && window.border != "ignore") return x;
  const PartialShape& shape = n.target().output(x).shape;
  for (size_t i = 0; window.border == "constant" && shape.rank_known() && i < window.rank(); ++i) {
    const ir::Dim extent = shape[static_cast<int64_t>(leading + i)];
    const int64_t cut = std::min<int64_t>(window.pad_begin[i], 0) + std::min<int64_t>(window.pad_end[i], 0);
    if (extent.known() && extent.value() + cut <= 0) return PadBeforehand(n, x, window, leading);
  }
  std::vector<int64_t> begin(leading, 0);
  std::vector<int64_t> end(leading, 0);
  for (size_t i = 0; i < window.rank(); ++i) {
    begin.push_back(std::min<int64_t>(window.pad_begin[i], 0));
    end.push_back(std::min<int64_t>(window.pad_end[i], 0));
    window.pad_begin[i] -= begin.back();
    window.pad_end[i] -= end.back();
  }
  return Pad(n, x, begin, end, "constant", 0.0, "crop");
}

// ---- sliding ----

namespace {

// Adjacent dimensions [begin, end) that a window slides along.
struct Run {
  int64_t begin = 0;
  int64_t end = 0;
};

// Splits the dimensions that the window moves along into runs of at most three, or two if later dimensions
// must be merged into a spatial one.
std::vector<Run> FindRuns(const Window& window) {
  const auto rank = static_cast<int64_t>(window.rank());
  std::vector<Run> runs;
  for (int64_t i = 0; i < rank; ++i) {
    if (window.IsTrivial(static_cast<size_t>(i))) continue;
    const bool extends = !runs.empty() && runs.back().end == i;
    const int64_t length = extends ? i - runs.back().begin : 0;
    if (extends && (length < 2 || (length == 2 && i + 1 == rank))) {
      runs.back().end = i + 1;
    } else {
      runs.push_back({i, i + 1});
    }
  }
  return runs;
}

bool IsSpatial(const Window& window) {
  return window.rank() >= 3 && window.rank() <= 5 && window.IsTrivial(0) && window.IsTrivial(1);
}

SpatialView DirectView(const Sliding& sliding) {
  std::vector<int64_t> axes;
  for (size_t i = 2; i < sliding.window.rank(); ++i) axes.push_back(static_cast<int64_t>(i));
  return {sliding.x, sliding.input, sliding.output, sliding.window.Select(axes)};
}

// Returns the extents as the target of a reshape; one of them may be unknown.
std::optional<std::vector<int64_t>> ReshapeTarget(NodeLowering& n, const PartialShape& shape) {
  std::vector<int64_t> target;
  bool inferred = false;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (!shape[i].known() && inferred) {
      n.UnknownExtent("a tensor with a window along batch or channel", i);
      return std::nullopt;
    }
    inferred |= !shape[i].known();
    target.push_back(shape[i].known() ? shape[i].value() : -1);
  }
  return target;
}

// A view [before, 1, run.., after]. `after` exists only if dimensions follow the run or the run is empty,
// since a view has at least one spatial dimension.
bool HasAfter(Run run, int64_t rank) {
  return run.end < rank || run.begin == run.end;
}
PartialShape ViewShape(const PartialShape& shape, Run run) {
  ir::Dim before(1);
  ir::Dim after(1);
  for (int64_t i = 0; i < run.begin; ++i) before = ir::ops::opset::MultiplyOrAny(before, shape[i]);
  for (int64_t i = run.end; i < shape.rank(); ++i) after = ir::ops::opset::MultiplyOrAny(after, shape[i]);
  llvm::SmallVector<ir::Dim, 5> dims{before, ir::Dim(1)};
  for (int64_t i = run.begin; i < run.end; ++i) dims.push_back(shape[i]);
  if (HasAfter(run, shape.rank())) dims.push_back(after);
  return PartialShape(llvm::ArrayRef<ir::Dim>(dims));
}

// Reshapes to exactly these extents. One may be 0 if padding crops a tensor to nothing.
OutputPort ReshapeExactly(NodeLowering& n, OutputPort x, const std::vector<int64_t>& extents,
                          std::string_view suffix) {
  return n.Add("opset1", "Reshape", {x, n.ConstInts(extents, fmt::format("{}_shape", suffix))},
               Attributes({{"special_zero", false}}), suffix);
}

// Calls `apply` on a view of the tensor and reshapes the results to the original rank.
std::vector<OutputPort> SlideRun(NodeLowering& n, const Sliding& sliding, Run run,
                                 const SpatialFunction& apply) {
  std::vector<int64_t> axes;
  for (int64_t i = run.begin; i < run.end; ++i) axes.push_back(i);
  SpatialView view{sliding.x, ViewShape(sliding.input, run), ViewShape(sliding.output, run),
                   sliding.window.Select(axes)};
  if (HasAfter(run, sliding.input.rank())) {
    Window& window = view.window;
    for (auto* list : {&window.size, &window.stride, &window.dilation}) list->push_back(1);
    for (auto* list : {&window.pad_begin, &window.pad_end}) list->push_back(0);
  }
  const auto to_view = ReshapeTarget(n, view.input);
  const auto from_view = ReshapeTarget(n, sliding.output);
  if (!to_view || !from_view) return {};
  view.x = ReshapeExactly(n, sliding.x, *to_view, "view");
  std::vector<OutputPort> results = apply(view);
  for (OutputPort& result : results) result = ReshapeExactly(n, result, *from_view, "unview");
  return results;
}

PartialShape Permuted(const PartialShape& shape, const std::vector<int64_t>& order) {
  PartialShape permuted = shape;
  for (size_t i = 0; i < order.size(); ++i) permuted.set(static_cast<int64_t>(i), shape[order[i]]);
  return permuted;
}

// Transposes the dimensions that the window moves along to the end, slides, and transposes the results back.
std::vector<OutputPort> SlideTransposed(NodeLowering& n, const Sliding& sliding,
                                        const SpatialFunction& apply) {
  std::vector<int64_t> order;
  std::vector<int64_t> moving;
  for (int64_t i = 0; i < sliding.input.rank(); ++i) {
    (sliding.window.IsTrivial(static_cast<size_t>(i)) ? order : moving).push_back(i);
  }
  if (moving.size() > 3) return {};
  const Run run{static_cast<int64_t>(order.size()), sliding.input.rank()};
  order.insert(order.end(), moving.begin(), moving.end());
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  const Sliding transposed{n.Add("opset1", "Transpose", {sliding.x, n.ConstInts(order, "order")}),
                           Permuted(sliding.input, order), Permuted(sliding.output, order),
                           sliding.window.Select(order)};
  std::vector<OutputPort> results = SlideRun(n, transposed, run, apply);
  for (OutputPort& result : results) {
    result = n.Add("opset1", "Transpose", {result, n.ConstInts(back, "order_back")}, {}, "transpose_back");
  }
  return results;
}

}  // namespace

OutputPort SlideSeparable(NodeLowering& n, const Sliding& sliding, const SpatialFunction& apply) {
  if (IsSpatial(sliding.window)) return apply(DirectView(sliding)).front();
  Sliding step = sliding;
  step.output = step.input;
  for (Run run : FindRuns(sliding.window)) {
    for (int64_t i = run.begin; i < run.end; ++i) step.output.set(i, sliding.output[i]);
    const std::vector<OutputPort> results = SlideRun(n, step, run, apply);
    if (results.empty()) return step.x;
    step.x = results.front();
    step.input = step.output;
  }
  return step.x;
}

std::vector<OutputPort> SlideOnce(NodeLowering& n, const Sliding& sliding, const SpatialFunction& apply) {
  if (IsSpatial(sliding.window)) return apply(DirectView(sliding));
  const int64_t rank = sliding.input.rank();
  std::vector<Run> runs = FindRuns(sliding.window);
  if (runs.empty()) runs.push_back({std::max<int64_t>(rank - 1, 0), rank});  // a window of one element
  if (runs.size() == 1) return SlideRun(n, sliding, runs.front(), apply);
  return SlideTransposed(n, sliding, apply);
}

}  // namespace nnefc::lower

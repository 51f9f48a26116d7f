#include "compiler/lower/window.h"

#include <algorithm>

#include "compiler/ir/ops/opset/dims.h"
#include "llvm/ADT/StringSwitch.h"

namespace nnefc::lower {

bool Window::IsPadded() const {
  const auto nonzero = [](int64_t pad) { return pad != 0; };
  return std::any_of(pad_begin.begin(), pad_begin.end(), nonzero) ||
         std::any_of(pad_end.begin(), pad_end.end(), nonzero);
}

bool Window::IsDilated() const {
  for (size_t i = 0; i < rank(); ++i) {
    if (size[i] > 1 && dilation[i] > 1) return true;
  }
  return false;
}

int64_t Window::Volume() const {
  int64_t volume = 1;
  for (int64_t extent : size) volume = ir::SaturatingMultiply(volume, extent);
  return volume;
}

Window Window::Select(llvm::ArrayRef<int64_t> axes) const {
  Window selected;
  selected.border = border;
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

// Automatic padding (R 4.3): the down-scaled extent is ceil(X / s).
bool PadAutomatically(NodeLowering& n, const WindowSource& source, Window& window, size_t axis) {
  const int64_t stride = window.stride[axis];
  const int64_t reach = window.reach(axis);
  const ir::Dim extent = source.extents[static_cast<int64_t>(axis)];
  int64_t total = reach - stride;  // where the stride divides the up-scaled extent
  if (source.backward && !source.output_shape.empty()) {
    const int64_t scaled = source.output_shape[axis];
    total = (ir::CeilDivide(scaled, stride) - 1) * stride + reach - scaled;
  } else if (!source.backward && stride != 1) {
    if (!extent.known()) {
      n.UnknownExtent("the tensor under an automatically padded window", static_cast<int64_t>(axis));
      return false;
    }
    total = (ir::CeilDivide(extent.value(), stride) - 1) * stride + reach - extent.value();
  }
  total = std::max<int64_t>(total, 0);
  window.pad_begin[axis] = total / 2;
  window.pad_end[axis] = total - total / 2;
  return true;
}

bool PadAllAutomatically(NodeLowering& n, const WindowSource& source, Window& window) {
  bool padded = true;
  for (size_t i = 0; i < window.rank(); ++i) padded &= PadAutomatically(n, source, window, i);
  return padded;
}

}  // namespace

namespace {

// Emits kWindowTooLarge unless products of two of the window's quantities fit
// 63 bits.
bool HasModestSizes(NodeLowering& n, const WindowSource& source, const Window& window) {
  constexpr int64_t kLargest = int64_t{1} << 30;
  const auto is_modest = [](int64_t value) { return value <= kLargest && value >= -kLargest; };
  bool modest = true;
  for (const auto* list : {&window.size, &window.stride, &window.dilation, &window.pad_begin, &window.pad_end,
                           &source.output_shape}) {
    modest &= std::all_of(list->begin(), list->end(), is_modest);
  }
  for (ir::Dim dim : source.extents.dims()) modest &= !dim.known() || is_modest(dim.value());
  if (!modest) n.Error(kWindowTooLarge, "the window of `{}`, or what it slides along, is larger than 2^30", n.node().type());
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

std::string_view PadMode(NodeLowering& n, const std::string& border) {
  const llvm::StringRef mode = llvm::StringSwitch<llvm::StringRef>(border)
                                   .Case("constant", "constant")
                                   .Case("replicate", "edge")
                                   .Case("reflect", "reflect")
                                   .Case("reflect-even", "symmetric")
                                   .Default("");
  if (mode.empty()) n.Error(kBorderMode, "`{}` cannot be padded with border '{}'", n.node().type(), border);
  return mode;
}

OutputPort Pad(NodeLowering& n, OutputPort x, llvm::ArrayRef<int64_t> begin, llvm::ArrayRef<int64_t> end,
               std::string_view mode, double value, std::string_view suffix) {
  const auto is_zero = [](int64_t pad) { return pad == 0; };
  const auto is_negative = [](int64_t pad) { return pad < 0; };
  if (mode.empty() || (std::all_of(begin.begin(), begin.end(), is_zero) && std::all_of(end.begin(), end.end(), is_zero))) {
    return x;
  }
  const bool crops =
      std::any_of(begin.begin(), begin.end(), is_negative) || std::any_of(end.begin(), end.end(), is_negative);
  std::vector<OutputPort> inputs{x, n.ConstInts(begin, fmt::format("{}_begin", suffix)),
                                 n.ConstInts(end, fmt::format("{}_end", suffix))};
  if (mode == "constant" && value != 0) inputs.push_back(n.ConstFloat(value, fmt::format("{}_value", suffix)));
  return n.Add(crops ? "opset12" : "opset1", "Pad", inputs, Attributes({{"pad_mode", mode}}), suffix);
}

namespace {

std::vector<int64_t> WithLeadingZeros(const std::vector<int64_t>& pads, size_t leading) {
  std::vector<int64_t> full(leading, 0);
  full.insert(full.end(), pads.begin(), pads.end());
  return full;
}

}  // namespace

OutputPort PadBeforehand(NodeLowering& n, OutputPort x, Window& window, size_t leading) {
  if (!window.IsPadded()) return x;
  const std::string border = window.border == "ignore" ? "constant" : window.border;
  const OutputPort padded = Pad(n, x, WithLeadingZeros(window.pad_begin, leading),
                                WithLeadingZeros(window.pad_end, leading), PadMode(n, border));
  window.pad_begin.assign(window.rank(), 0);
  window.pad_end.assign(window.rank(), 0);
  return padded;
}

OutputPort CropBeforehand(NodeLowering& n, OutputPort x, Window& window, size_t leading) {
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

PartialShape SlidShape(const PartialShape& shape, const Window& window, size_t leading) {
  PartialShape slid = shape;
  for (size_t i = 0; i < window.rank(); ++i) {
    const auto axis = static_cast<int64_t>(i + leading);
    const std::optional<ir::Dim> places = ir::WindowPlaces(shape[axis], {.kernel = window.size[i],
                                                                         .stride = window.stride[i],
                                                                         .dilation = window.dilation[i],
                                                                         .pad_begin = window.pad_begin[i],
                                                                         .pad_end = window.pad_end[i]});
    slid.set(axis, places.value_or(ir::Dim()));
  }
  return slid;
}

// ---- sliding ----

namespace {

// Adjacent dimensions [begin, end) along which a window slides.
struct Run {
  int64_t begin = 0;
  int64_t end = 0;
};

// The extents before and after a window has slid.
struct SlidTensors {
  PartialShape input;
  PartialShape output;
};

// Cuts the dimensions along which the window moves into runs of at most three,
// or two where dimensions follow that must be merged into a spatial one.
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

Window SpatialPart(const Window& window) {
  std::vector<int64_t> axes;
  for (size_t i = 2; i < window.rank(); ++i) axes.push_back(static_cast<int64_t>(i));
  return window.Select(axes);
}

// The extents as the target of a reshape, one of which may be unknown.
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

// Calls `apply` on a view [before, 1, run.., after] of the tensor.
bool SlideRun(NodeLowering& n, OutputPort x, const SlidTensors& shapes, const Window& window, Run run,
              const SpatialFunctions& apply, std::vector<OutputPort>& results) {
  const PartialShape& shape = shapes.input;
  ir::Dim before(1);
  ir::Dim after(1);
  for (int64_t i = 0; i < run.begin; ++i) before = ir::Multiply(before, shape[i]);
  for (int64_t i = run.end; i < shape.rank(); ++i) after = ir::Multiply(after, shape[i]);
  llvm::SmallVector<ir::Dim, 5> dims{before, ir::Dim(1)};
  std::vector<int64_t> axes;
  for (int64_t i = run.begin; i < run.end; ++i) {
    dims.push_back(shape[i]);
    axes.push_back(i);
  }
  Window moving = window.Select(axes);
  if (run.end < shape.rank()) {
    dims.push_back(after);
    for (auto* list : {&moving.size, &moving.stride, &moving.dilation}) list->push_back(1);
    for (auto* list : {&moving.pad_begin, &moving.pad_end}) list->push_back(0);
  }
  const PartialShape view{llvm::ArrayRef<ir::Dim>(dims)};
  const auto to_view = ReshapeTarget(n, view);
  const auto from_view = ReshapeTarget(n, shapes.output);
  if (!to_view || !from_view) return false;
  for (OutputPort result : apply(n.Reshape(x, *to_view, "view"), view, moving)) {
    results.push_back(n.Reshape(result, *from_view, "unview"));
  }
  return true;
}

}  // namespace

OutputPort SlideSeparable(NodeLowering& n, OutputPort x, const PartialShape& input, const PartialShape& output,
                          const Window& window, const SpatialFunction& apply) {
  if (IsSpatial(window)) return apply(x, input, SpatialPart(window));
  const SpatialFunctions apply_one = [&](OutputPort view, const PartialShape& view_shape, const Window& moving) {
    return std::vector<OutputPort>{apply(view, view_shape, moving)};
  };
  SlidTensors shapes{input, input};
  for (Run run : FindRuns(window)) {
    for (int64_t i = run.begin; i < run.end; ++i) shapes.output.set(i, output[i]);
    std::vector<OutputPort> results;
    if (!SlideRun(n, x, shapes, window, run, apply_one, results)) return x;
    x = results.front();
    shapes.input = shapes.output;
  }
  return x;
}

bool SlideOnce(NodeLowering& n, OutputPort x, const PartialShape& input, const PartialShape& output,
               const Window& window, const SpatialFunctions& apply, std::vector<OutputPort>& results) {
  if (IsSpatial(window)) {
    results = apply(x, input, SpatialPart(window));
    return true;
  }
  std::vector<Run> runs = FindRuns(window);
  if (runs.empty()) runs.push_back({input.rank() - 1, input.rank()});
  if (runs.size() != 1 || input.rank() == 0) return false;
  return SlideRun(n, x, {input, output}, window, runs.front(), apply, results) || n.state().failed;
}

}  // namespace nnefc::lower

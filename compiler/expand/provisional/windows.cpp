// Conversion of the window arguments of provisional operations: omitted lists, computed padding, ranks.

#include "compiler/expand/provisional/windows.h"

#include <algorithm>

#include "compiler/expand/rules.h"
#include "compiler/ir/ops/windows/sliding_window_shape.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::expand::provisional {
namespace {

using ir::ops::WindowAxis;
using Pair = std::pair<int64_t, int64_t>;

// Maximum list item; larger ones may overflow in the computation of padding.
constexpr int64_t kMaxItem = INT32_MAX;

// The window of an operation as given. Axes beyond the end of a list have its default.
struct GivenWindow {
  ir::ops::Window axes = {};
  // False if an item is not positive. The lists are then completed, so that shape inference reports only that
  // item.
  bool is_positive = true;

  // Returns an axis that a list or a filter specifies.
  WindowAxis& At(size_t axis) {
    if (axis >= axes.size()) axes.resize(axis + 1);
    return axes[axis];
  }
  bool IsPadded() const { return !axes.empty() && axes.front().padding.has_value(); }
  // Returns the number of axes up to the last one that slides or is padded; the others may be omitted.
  int64_t Count() const {
    size_t count = axes.size();
    while (count > 0 && IsTrivial(axes[count - 1])) --count;
    return static_cast<int64_t>(count);
  }

 private:
  static bool IsTrivial(const WindowAxis& axis) {
    return axis.size == 1 && axis.stride == 1 && axis.padding.value_or(Pair{0, 0}) == Pair{0, 0};
  }
};

// Returns the dilated size of the window; its items are at most kMaxItem.
int64_t Reach(const WindowAxis& axis) {
  return static_cast<int64_t>(ir::ops::DilatedSize(axis));
}

bool CheckLargest(Adapter& adapter) {
  for (std::string_view name : {"size", "stride", "dilation"}) {
    const std::optional<std::vector<int64_t>> items = adapter.Integers(name);
    if (!items) continue;
    const auto large =
        std::find_if(items->begin(), items->end(), [](int64_t item) { return item > kMaxItem; });
    if (large == items->end()) continue;
    const int64_t index = large - items->begin();
    adapter.fault() = Fault::Of(kProvisionalArgument, "`{}[{}]` of `{}` is {}; expected at most {}", name,
                                index, adapter.called(), *large, kMaxItem)
                          .At(name, index);
    return false;
  }
  return true;
}

// Reads the lists; nothing if they are not lists of integers.
std::optional<GivenWindow> ReadWindow(Adapter& adapter) {
  GivenWindow window;
  auto read = [&](std::string_view name, int64_t WindowAxis::*item) {
    const std::optional<std::vector<int64_t>> items = adapter.Integers(name);
    if (!items) return false;
    window.is_positive &= llvm::all_of(*items, [](int64_t value) { return value > 0; });
    for (size_t i = 0; i < items->size(); ++i) window.At(i).*item = (*items)[i];
    return true;
  };
  if (!read("size", &WindowAxis::size) || !read("stride", &WindowAxis::stride) ||
      !read("dilation", &WindowAxis::dilation))
    return std::nullopt;
  const Value* padding = adapter.Find("padding");
  if (padding == nullptr) return window;
  for (int64_t i = 0; i < padding->length(); ++i) {
    const Value& pair = padding->item(i);
    if (pair.kind() != ValueKind::kTuple || pair.length() != 2) return std::nullopt;
    if (pair.item(0).kind() != ValueKind::kInteger || pair.item(1).kind() != ValueKind::kInteger)
      return std::nullopt;
    window.At(static_cast<size_t>(i)).padding = Pair{pair.item(0).integer(), pair.item(1).integer()};
  }
  return window;
}

// Returns the floor of t / 2.
int64_t Half(int64_t t) {
  return t >= 0 ? t / 2 : -((1 - t) / 2);
}

// Returns the padding computed by P 4.3: t = (x - 1) * s + f_d - X, where x = ceil(X / s) for a basic
// operation whose input has the extent X, and X = x * s for a reverse one. It may be negative. Returns
// nothing if it depends on an unknown extent.
std::optional<Pair> AutomaticPadding(const WindowAxis& axis, bool reverse, ir::Dim extent) {
  int64_t total = Reach(axis) - axis.stride;
  if (!reverse && axis.stride > 1) {
    if (!extent.known()) return std::nullopt;
    int64_t upscaled = extent.value();
    int64_t downscaled = upscaled / axis.stride + (upscaled % axis.stride != 0 ? 1 : 0);
    total = (downscaled - 1) * axis.stride + Reach(axis) - upscaled;
  }
  return Pair{Half(total), total - Half(total)};
}

struct WindowSite {
  bool reverse = false;
  // The first axis of the window: 2 for convolutions.
  int64_t first_axis = 0;
};

void SetPadding(Adapter& adapter, const std::vector<Pair>& padding) {
  std::vector<Value> items;
  Heap& heap = adapter.builder().heap();
  items.reserve(padding.size());
  for (auto [p, q] : padding) items.push_back(Value::Tuple(heap, {Value::Integer(p), Value::Integer(q)}));
  *adapter.Find("padding") = Value::Array(heap, std::move(items));
}

// Completes `padding` to all axes of the window. An empty list stays empty if the ratified computation with
// max(t, 0) has the same result; it does where the window size is at least the stride, since X <= x * s.
// Padding that depends on an open extent is deferred: (0, f_d - 1) results in the same x meanwhile.
void CompletePadding(Adapter& adapter, const GivenWindow& window, bool given, const Value& input,
                     const WindowSite& site) {
  if (adapter.Find("padding") == nullptr) return;
  const ir::PartialShape* shape =
      input.kind() == ValueKind::kTensor ? &adapter.builder().graph().output(input.port()).shape : nullptr;
  bool negative = false;
  std::optional<int64_t> open;
  bool waits = false;
  std::vector<Pair> padding;
  if (!window.is_positive) {
    for (const WindowAxis& axis : window.axes) {
      if (given) padding.push_back(axis.padding.value_or(Pair{0, 0}));
    }
    SetPadding(adapter, padding);
    return;
  }
  for (size_t i = 0; i < window.axes.size(); ++i) {
    const WindowAxis& axis = window.axes[i];
    if (axis.padding) {
      padding.push_back(*axis.padding);
      continue;
    }
    int64_t at = static_cast<int64_t>(i) + site.first_axis;
    ir::Dim extent =
        shape != nullptr && shape->rank_known() && at < shape->rank() ? (*shape)[at] : ir::Dim(1);
    std::optional<Pair> automatic = AutomaticPadding(axis, site.reverse, extent);
    if (!automatic) {
      open = at;
      waits |= given || Reach(axis) < axis.stride;
      padding.emplace_back(0, Reach(axis) - 1);
      continue;
    }
    negative |= automatic->first < 0;  // the other one is the larger half
    padding.push_back(*automatic);
  }
  if (!given && !negative && !waits) return;
  if (open) adapter.builder().nodes().SetOpenPadding(*open);
  SetPadding(adapter, padding);
}

// Completes all lists to `count` axes and truncates longer ones.
void CompleteLists(Adapter& adapter, GivenWindow& window, int64_t count, const Value& input,
                   const WindowSite& site) {
  const bool given = window.IsPadded();
  window.axes.resize(static_cast<size_t>(count));
  CompletePadding(adapter, window, given, input, site);
  auto complete = [&](std::string_view name, int64_t WindowAxis::*item, bool even_if_empty) {
    const Value* list = adapter.Find(name);
    if (list == nullptr || (list->length() == 0 && !even_if_empty)) return;
    std::vector<int64_t> items;
    for (const WindowAxis& axis : window.axes) items.push_back(axis.*item);
    adapter.Set(name, items);
  };
  complete("size", &WindowAxis::size, true);
  complete("stride", &WindowAxis::stride, false);
  complete("dilation", &WindowAxis::dilation, false);
}

// Sets the groups of `planewise_deconv`: one per channel of `input`. The ratified `deconv` with `groups = 0`
// has one per channel of the result; the two differ if a filter has several channels.
bool GroupPlanes(Adapter& adapter, const Value& input, const Value& filter) {
  if (!adapter.IsDefault("groups") || adapter.Extent(filter, 1).Compatible(ir::Dim(1))) return true;
  const ir::Dim channels = adapter.Extent(input, 1);
  if (channels.known()) {
    *adapter.Find("groups") = Value::Integer(channels.value());
    return true;
  }
  adapter.fault() = Fault::Of(kShapeUnknown,
                              "`input` of `planewise_deconv` has channels that an external leaves open; give "
                              "them with `--input-shape`")
                        .At("input");
  return false;
}

}  // namespace

bool AdaptBox(Adapter& adapter, std::string_view operation) {
  if (!CheckLargest(adapter)) return false;
  std::optional<GivenWindow> window = ReadWindow(adapter);
  Value& input = *adapter.Find("input");
  Value* index = adapter.Find("index");
  int64_t rank = adapter.Rank(input);
  if (!window || rank < 0) return true;
  if (index != nullptr) rank = std::max(rank, adapter.Rank(*index));
  rank = std::max(rank, window->Count());
  if (rank > Adapter::kMaxRank) return true;
  if (!adapter.Raise(input, rank) || (index != nullptr && !adapter.Raise(*index, rank))) return false;
  bool reverse = operation == "debox" || operation == "desample";
  CompleteLists(adapter, *window, rank, input, {reverse, 0});
  return true;
}

bool AdaptConv(Adapter& adapter, std::string_view operation) {
  if (!CheckLargest(adapter)) return false;
  std::optional<GivenWindow> window = ReadWindow(adapter);
  Value& input = *adapter.Find("input");
  if (!window) return true;
  int64_t rank = std::max<int64_t>(adapter.Rank(input), 2);
  llvm::SmallVector<Value*, 2> filters;
  for (std::string_view name : {"filter", "plane_filter", "point_filter"}) {
    if (Value* filter = adapter.Find(name)) filters.push_back(filter);
  }
  for (Value* filter : filters) {
    if (adapter.Rank(*filter) < 0) return true;
    rank = std::max(rank, adapter.Rank(*filter));
  }
  // The spatial extents of the windowed filter are the window's size.
  if (filters[0]->kind() == ValueKind::kTensor) {
    const ir::PartialShape& shape = adapter.builder().graph().output(filters[0]->port()).shape;
    for (int64_t axis = 2; axis < shape.rank(); ++axis) {
      if (!shape[axis].known() || shape[axis].value() > kMaxItem) return true;
      window->At(static_cast<size_t>(axis - 2)).size = shape[axis].value();
    }
  }
  rank = std::max(rank, window->Count() + 2);
  if (adapter.Rank(input) < 0 || rank > Adapter::kMaxRank) return true;
  if (!adapter.Raise(input, rank)) return false;
  for (Value* filter : filters) {
    if (!adapter.Raise(*filter, rank)) return false;
  }
  if (operation == "deconv" && !GroupPlanes(adapter, input, *filters[0])) return false;
  Value* bias = adapter.Find("bias");
  if (bias != nullptr && !adapter.Lower(*bias, rank)) return false;
  bool reverse = operation == "deconv" || operation == "separable_deconv";
  CompleteLists(adapter, *window, rank - 2, input, {reverse, 2});
  return true;
}

}  // namespace nnefc::expand::provisional

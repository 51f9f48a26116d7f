// Conversion of the window arguments of provisional operations: omitted lists, computed padding, ranks.

#include "compiler/expand/provisional/windows.h"

#include <algorithm>

#include "compiler/expand/rules.h"

namespace nnefc::expand::provisional {
namespace {

using Pair = std::pair<int64_t, int64_t>;

// Maximum list item; larger ones may overflow in the computation of padding.
constexpr int64_t kMaxItem = INT32_MAX;

// The lists of a window as given.
struct Window {
  std::vector<int64_t> size, stride, dilation;
  std::vector<Pair> padding;
  // False if an item is not positive. The lists are then completed, so that shape inference reports only that
  // item.
  bool is_positive = true;

  int64_t Size(size_t i) const { return i < size.size() ? size[i] : 1; }
  int64_t Stride(size_t i) const { return i < stride.size() ? stride[i] : 1; }
  int64_t Dilation(size_t i) const { return i < dilation.size() ? dilation[i] : 1; }
  // Returns the dilated size of the window.
  int64_t Reach(size_t i) const { return (Size(i) - 1) * Dilation(i) + 1; }
  // Returns true if axis `i` may be omitted: window size and stride are 1.
  bool Trivial(size_t i) const {
    return Size(i) == 1 && Stride(i) == 1 && (i >= padding.size() || padding[i] == Pair{0, 0});
  }
  // Returns the number of axes up to the last nontrivial one.
  int64_t Axes() const {
    size_t count = std::max({size.size(), stride.size(), dilation.size(), padding.size()});
    while (count > 0 && Trivial(count - 1)) --count;
    return static_cast<int64_t>(count);
  }
};

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
std::optional<Window> ReadWindow(Adapter& adapter) {
  Window window;
  auto read = [&](std::string_view name, std::vector<int64_t>& list) {
    std::optional<std::vector<int64_t>> items = adapter.Integers(name);
    if (!items) return false;
    window.is_positive &= llvm::all_of(*items, [](int64_t item) { return item > 0; });
    list = std::move(*items);
    return true;
  };
  if (!read("size", window.size) || !read("stride", window.stride) || !read("dilation", window.dilation)) {
    return std::nullopt;
  }
  const Value* padding = adapter.Find("padding");
  if (padding == nullptr) return window;
  for (const Value& pair : padding->items()) {
    if (pair.kind() != ValueKind::kTuple || pair.length() != 2) return std::nullopt;
    if (pair.item(0).kind() != ValueKind::kInteger || pair.item(1).kind() != ValueKind::kInteger)
      return std::nullopt;
    window.padding.emplace_back(pair.item(0).integer(), pair.item(1).integer());
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
std::optional<Pair> AutomaticPadding(const Window& window, size_t i, bool reverse, ir::Dim extent) {
  int64_t stride = window.Stride(i);
  int64_t total = window.Reach(i) - stride;
  if (!reverse && stride > 1) {
    if (!extent.known()) return std::nullopt;
    int64_t upscaled = extent.value();
    int64_t downscaled = upscaled / stride + (upscaled % stride != 0 ? 1 : 0);
    total = (downscaled - 1) * stride + window.Reach(i) - upscaled;
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

// Completes `padding` to `count` axes. An empty list stays empty if the ratified computation with max(t, 0)
// has the same result; it does where the window size is at least the stride, since X <= x * s. Padding that
// depends on an open extent is deferred: (0, f_d - 1) results in the same x meanwhile.
bool CompletePadding(Adapter& adapter, Window& window, size_t count, const Value& input,
                     const WindowSite& site) {
  if (adapter.Find("padding") == nullptr) return true;
  const ir::PartialShape* shape =
      input.kind() == ValueKind::kTensor ? &adapter.builder().graph().output(input.port()).shape : nullptr;
  bool given = !window.padding.empty();
  bool negative = false;
  std::optional<int64_t> open;
  bool waits = false;
  std::vector<Pair> padding = window.padding;
  padding.resize(std::min(padding.size(), count));
  if (!window.is_positive) {
    padding.resize(given ? count : 0);
    SetPadding(adapter, padding);
    return true;
  }
  for (size_t i = padding.size(); i < count; ++i) {
    int64_t axis = static_cast<int64_t>(i) + site.first_axis;
    ir::Dim extent =
        shape != nullptr && shape->rank_known() && axis < shape->rank() ? (*shape)[axis] : ir::Dim(1);
    std::optional<Pair> automatic = AutomaticPadding(window, i, site.reverse, extent);
    if (!automatic) {
      open = axis;
      waits |= given || window.Reach(i) < window.Stride(i);
      padding.emplace_back(0, window.Reach(i) - 1);
      continue;
    }
    negative |= automatic->first < 0;  // the other one is the larger half
    padding.push_back(*automatic);
  }
  if (!given && !negative && !waits) return true;
  if (open) adapter.builder().nodes().SetOpenPadding(*open);
  SetPadding(adapter, padding);
  return true;
}

// Completes all lists to `count` axes and truncates longer ones.
bool CompleteLists(Adapter& adapter, Window& window, int64_t count, const Value& input,
                   const WindowSite& site) {
  auto length = static_cast<size_t>(count);
  if (!CompletePadding(adapter, window, length, input, site)) return false;
  auto complete = [&](std::string_view name, std::vector<int64_t>& list, bool even_if_empty) {
    if (adapter.Find(name) == nullptr || (list.empty() && !even_if_empty)) return;
    list.resize(length, 1);
    adapter.Set(name, list);
  };
  complete("size", window.size, true);
  complete("stride", window.stride, false);
  complete("dilation", window.dilation, false);
  return true;
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
  std::optional<Window> window = ReadWindow(adapter);
  Value& input = *adapter.Find("input");
  Value* index = adapter.Find("index");
  int64_t rank = adapter.Rank(input);
  if (!window || rank < 0) return true;
  if (index != nullptr) rank = std::max(rank, adapter.Rank(*index));
  rank = std::max(rank, window->Axes());
  if (rank > Adapter::kMaxRank) return true;
  if (!adapter.Raise(input, rank) || (index != nullptr && !adapter.Raise(*index, rank))) return false;
  bool reverse = operation == "debox" || operation == "desample";
  return CompleteLists(adapter, *window, rank, input, {reverse, 0});
}

bool AdaptConv(Adapter& adapter, std::string_view operation) {
  if (!CheckLargest(adapter)) return false;
  std::optional<Window> window = ReadWindow(adapter);
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
      window->size.push_back(shape[axis].value());
    }
  }
  rank = std::max(rank, window->Axes() + 2);
  if (adapter.Rank(input) < 0 || rank > Adapter::kMaxRank) return true;
  if (!adapter.Raise(input, rank)) return false;
  for (Value* filter : filters) {
    if (!adapter.Raise(*filter, rank)) return false;
  }
  if (operation == "deconv" && !GroupPlanes(adapter, input, *filters[0])) return false;
  Value* bias = adapter.Find("bias");
  if (bias != nullptr && !adapter.Lower(*bias, rank)) return false;
  bool reverse = operation == "deconv" || operation == "separable_deconv";
  return CompleteLists(adapter, *window, rank - 2, input, {reverse, 2});
}

}  // namespace nnefc::expand::provisional

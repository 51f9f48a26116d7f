// Output extents of OpenVINO's sliding-window operations.

#include "compiler/ir/ops/opset/windows/window.h"

#include <algorithm>

namespace nnefc::ir::ops::opset {

namespace {

constexpr int64_t kLargestAttribute = int64_t{1} << 40;  // sums of attributes fit 63 bits

// "at least 1", of an item below `lowest`, or "at most 1099511627776".
std::string Bound(int64_t item, int64_t lowest) {
  return item < lowest ? fmt::format("at least {}", lowest) : fmt::format("at most {}", kLargestAttribute);
}

// Reads a list with one item for each spatial dimension.
std::optional<std::vector<int64_t>> ReadList(OpContext& op, std::string_view name, int64_t spatial,
                                             int64_t lowest) {
  std::vector<int64_t> list = op.node().Ints(name, static_cast<size_t>(spatial));
  if (static_cast<int64_t>(list.size()) != spatial) {
    op.Error(kOpsetAttributeValue, "`{}` of `{}` has {} items; expected {}", name, op.node().type(),
             list.size(), spatial);
    return std::nullopt;
  }
  for (int64_t item : list) {
    if (item >= lowest && item <= kLargestAttribute) continue;
    op.Error(kOpsetAttributeValue, "`{}` of `{}` has the item {}; expected {}", name, op.node().type(), item,
             Bound(item, lowest));
    return std::nullopt;
  }
  return list;
}

}  // namespace

std::optional<WindowAttributes> ReadWindow(OpContext& op, const std::vector<int64_t>& kernel,
                                           int64_t spatial) {
  const auto strides = ReadList(op, "strides", spatial, 1);
  const auto dilations = ReadList(op, "dilations", spatial, 1);
  const auto begin = ReadList(op, "pads_begin", spatial, -kLargestAttribute);
  const auto end = ReadList(op, "pads_end", spatial, -kLargestAttribute);
  if (!strides || !dilations || !begin || !end) return std::nullopt;
  WindowAttributes window{.axes = {}, .auto_pad = op.String("auto_pad")};
  const std::string& rounding = op.String("rounding_type");
  if (rounding != "floor")
    window.rounding = rounding == "ceil_torch" ? WindowRounding::kCeilInside : WindowRounding::kCeil;
  const bool padded = window.auto_pad == "explicit";
  for (size_t i = 0; i < static_cast<size_t>(spatial); ++i) {
    const int64_t size = i < kernel.size() ? kernel[i] : 1;
    if (size < 1 || size > kLargestAttribute) {
      op.Error(kOpsetAttributeValue, "the kernel of `{}` has the extent {}; expected {}", op.node().type(),
               size, Bound(size, 1));
      return std::nullopt;
    }
    window.axes.push_back({.size = size,
                           .stride = (*strides)[i],
                           .dilation = (*dilations)[i],
                           .padding = std::pair(padded ? (*begin)[i] : 0, padded ? (*end)[i] : 0)});
  }
  return window;
}

std::optional<Dim> WindowOutput(OpContext& op, const WindowAttributes& window, int64_t axis, Dim extent) {
  WindowAxis sliding = window.axes[static_cast<size_t>(axis)];
  if (window.auto_pad == "same_upper" || window.auto_pad == "same_lower") {
    const int64_t s = sliding.stride;
    const Dim places(
        static_cast<int64_t>(CeilDiv(extent.min, s)),
        extent.max == Dim::kUnbounded ? extent.max : static_cast<int64_t>(CeilDiv(extent.max, s)));
    // The padding of an extent of 0 is smaller than the window. A pool refuses it; a convolution has no
    // result.
    const bool is_empty_pool = extent.max == 0 && op.node().info().FindAttribute("rounding_type") != nullptr;
    if ((window.rounding == WindowRounding::kFloor && !is_empty_pool) || places.max == Dim::kUnbounded)
      return places;
    // Padding for these positions; rounding up may still add another one.
    if (!extent.known()) return Dim(places.min, places.max + 1);
    const int64_t last = (places.min - 1) * s;  // below 0 for an extent of 0
    sliding.padding->second = std::max<int64_t>(SaturatingAdd(last, Reach(sliding)) - extent.min, 0);
  }
  const std::optional<Dim> places = WindowPlaces(extent, sliding, window.rounding);
  if (places) return places;
  op.Error(kOpsetExtent,
           "the window of `{}` reaches over {} elements along spatial axis {}; the padded input has {}",
           op.node().type(), Reach(sliding), axis,
           extent.max + sliding.padding->first + sliding.padding->second);
  return std::nullopt;
}

std::vector<AttributeInfo> WindowAttributeInfos(std::vector<AttributeInfo> infos) {
  infos.push_back(OnEachAxis("pads_begin", 0));
  infos.push_back(OnEachAxis("pads_end", 0));
  infos.push_back(
      {"auto_pad", AttributeKind::kString, "explicit", {"explicit", "same_upper", "same_lower", "valid"}});
  return infos;
}

}  // namespace nnefc::ir::ops::opset

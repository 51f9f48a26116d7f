// Arithmetic of extents and numbers in shape functions of OpenVINO operations.

#include "compiler/ir/ops/opset/dims.h"

#include <algorithm>
#include <utility>

namespace nnefc::ir::ops::opset {

namespace {

Dim DimUnion(Dim a, Dim b) {
  if (a == b) return a;
  if (!a.known() || !b.known()) return Dim();
  return Dim(std::min(a.min, b.min), std::max(a.max, b.max));
}

}  // namespace

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? INT64_MAX : INT64_MIN;
}

int64_t SaturatingMultiply(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

Dim AddOrAny(Dim a, Dim b) {
  return Add(a, b).value_or(Dim());
}

Dim MultiplyOrAny(Dim a, Dim b) {
  return Multiply(a, b).value_or(Dim());
}

Dim Shift(Dim dim, int64_t amount) {
  const int64_t max = dim.max == Dim::kUnbounded ? dim.max : SaturatingAdd(dim.max, amount);
  return {std::max<int64_t>(SaturatingAdd(dim.min, amount), 0), std::max<int64_t>(max, 0)};
}

std::optional<Dim> DivideExactly(Dim dim, int64_t divisor) {
  const auto lowest = static_cast<int64_t>(CeilDiv(dim.min, divisor));
  const int64_t highest = dim.max == Dim::kUnbounded ? dim.max : dim.max / divisor;
  return lowest <= highest ? std::optional(Dim(lowest, highest)) : std::nullopt;
}

std::optional<Dim> Rescale(Dim dim, float scale) {
  if (scale == 1) return dim;
  const auto scaled = [&](int64_t extent) {
    const float product = static_cast<float>(extent) * (scale + 1e-6f);
    return product < 9e18f ? static_cast<int64_t>(product) : Dim::kUnbounded;
  };
  const Dim result(scaled(dim.min), dim.max == Dim::kUnbounded ? dim.max : scaled(dim.max));
  return result.min == Dim::kUnbounded ? std::nullopt : std::optional(result);
}

std::string ExtentText(Dim dim) {
  const std::string shape = ToString(PartialShape({dim}));
  return shape.substr(1, shape.size() - 2);
}

std::optional<PartialShape> BroadcastNumpy(const PartialShape& a, const PartialShape& b) {
  BroadcastResult result = BroadcastShapes(a, b, Alignment::kLast);
  if (result.mismatch) return std::nullopt;
  return std::move(result.shape);
}

std::optional<PartialShape> BroadcastPdpd(const PartialShape& a, const PartialShape& b, int64_t axis) {
  if (!a.rank_known() || !b.rank_known()) return a;
  if (axis == -1) axis = a.rank() - b.rank();
  if (axis < 0 || b.rank() > a.rank() || axis > a.rank() - b.rank()) return std::nullopt;
  for (int64_t i = 0; i < b.rank(); ++i) {
    if (b[i].min > a[axis + i].max) return std::nullopt;  // an empty axis cannot hold elements
    if (!b[i].Compatible(a[axis + i]) && !b[i].Compatible(Dim(1))) return std::nullopt;
  }
  return a;
}

PartialShape ShapeUnion(const PartialShape& a, const PartialShape& b) {
  if (!a.rank_known() || !b.rank_known()) return PartialShape();
  if (a.rank() != b.rank()) {
    if (a.rank() > 1 || b.rank() > 1) return PartialShape();
    const Dim length = a.rank() == 1 ? a[0] : b[0];
    return PartialShape({length == Dim(1) ? length : Dim()});
  }
  PartialShape shape = a;
  for (int64_t i = 0; i < a.rank(); ++i) shape.set(i, DimUnion(a[i], b[i]));
  return shape;
}

namespace {

constexpr std::pair<int64_t, int64_t> kNoPadding = {0, 0};

int64_t SumOfPads(const WindowAxis& axis) {
  const auto [begin, end] = axis.padding.value_or(kNoPadding);
  return SaturatingAdd(begin, end);
}

}  // namespace

int64_t Reach(const WindowAxis& axis) {
  return SaturatingAdd(SaturatingMultiply(axis.size - 1, axis.dilation), 1);
}

std::optional<Dim> WindowPlaces(Dim extent, const WindowAxis& axis, WindowRounding rounding) {
  const int64_t reach = Reach(axis), pads = SumOfPads(axis);
  const int64_t before = axis.padding.value_or(kNoPadding).first;
  const auto places = [&](int64_t x) {
    const int64_t room = SaturatingAdd(SaturatingAdd(x, pads), -reach);
    const bool is_floor = rounding == WindowRounding::kFloor;
    const auto count =
        static_cast<int64_t>((is_floor ? FloorDiv(room, axis.stride) : CeilDiv(room, axis.stride)) + 1);
    const int64_t last = SaturatingMultiply(std::max<int64_t>(count - 1, 0), axis.stride);
    const bool starts_outside = last >= SaturatingAdd(x, before);
    return rounding == WindowRounding::kCeilInside && starts_outside ? count - 1 : count;
  };
  if (extent.max != Dim::kUnbounded && SaturatingAdd(extent.max, pads) < reach) return std::nullopt;
  const int64_t smallest = std::max(extent.min, SaturatingAdd(reach, -pads));
  return Dim(places(smallest), extent.max == Dim::kUnbounded ? Dim::kUnbounded : places(extent.max));
}

std::optional<Dim> WindowReach(Dim places, const WindowAxis& axis, int64_t extra) {
  const int64_t shift = SaturatingAdd(SaturatingAdd(Reach(axis), -SumOfPads(axis)), extra);
  const auto reach = [&](int64_t x) {
    return SaturatingAdd(SaturatingMultiply(std::max<int64_t>(x - 1, 0), axis.stride), shift);
  };
  if (places.max != Dim::kUnbounded && reach(places.max) < 0) return std::nullopt;
  return Dim(std::max<int64_t>(reach(places.min), 0),
             places.max == Dim::kUnbounded ? Dim::kUnbounded : reach(places.max));
}

}  // namespace nnefc::ir::ops::opset

#pragma once

#include <optional>
#include <string>

#include "compiler/ir/interval.h"
#include "compiler/ir/ops/windows/window_axis.h"

namespace nnefc::ir::ops::opset {

// Saturating arithmetic of integers that need not be extents.
int64_t SaturatingAdd(int64_t a, int64_t b);
int64_t SaturatingMultiply(int64_t a, int64_t b);  // a, b >= 0

// Arithmetic of extents of OpenVINO operations; a result that overflows becomes an unknown extent.
Dim AddOrAny(Dim a, Dim b);
Dim MultiplyOrAny(Dim a, Dim b);
// Shifts an extent; the result is at least zero.
Dim Shift(Dim dim, int64_t amount);
// Returns the quotients of the extents that are multiples of `divisor`, or nothing if there are none;
// `divisor` > 0.
std::optional<Dim> DivideExactly(Dim dim, int64_t divisor);
// Returns the extent that a `scale` of Interpolate leads to, or nothing if that is too large. As in OpenVINO,
// it is computed in f32, and a scale other than 1 counts as slightly larger: 0.7 leads from 10 to 7.
std::optional<Dim> Rescale(Dim dim, float scale);
// Returns the text of an extent in a shape: "3", "?", "2..8".
std::string ExtentText(Dim dim);

// Broadcasts by NumPy's rule: shapes are aligned at the last axis.
std::optional<PartialShape> BroadcastNumpy(const PartialShape& a, const PartialShape& b);
// Broadcasts by PaddlePaddle's rule: `b` is aligned with `a` at `axis` (-1: at the end), must fit within `a`,
// and is broadcast to it. The result has the shape of `a`.
std::optional<PartialShape> BroadcastPdpd(const PartialShape& a, const PartialShape& b, int64_t axis);

// Returns the smallest partial shape that includes both: the output shape of an If. Different extents become
// an interval and different ranks an unknown rank, except that [] and [1] yield [1].
PartialShape ShapeUnion(const PartialShape& a, const PartialShape& b);

// The rounding of a number of window positions (`rounding_type`).
enum class WindowRounding : uint8_t {
  kFloor,
  kCeil,
  kCeilInside,  // up, but no window starts in the padding at the end
};
// Returns the extent that the window covers.
int64_t Reach(const WindowAxis& axis);
// Returns the number of window positions: (extent + pads - reach) / stride + 1. Nothing if no window fits. No
// padding means zeros.
std::optional<Dim> WindowPlaces(Dim extent, const WindowAxis& axis,
                                WindowRounding rounding = WindowRounding::kFloor);
// Returns the extent that `places` window positions cover: (places - 1) * stride + reach - pads + extra.
// Nothing if it is negative.
std::optional<Dim> WindowReach(Dim places, const WindowAxis& axis, int64_t extra);

}  // namespace nnefc::ir::ops::opset

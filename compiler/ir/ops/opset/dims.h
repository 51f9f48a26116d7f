#pragma once

#include <optional>

#include "compiler/ir/interval.h"

namespace nnefc::ir {

// Sums and products of numbers that are no extents of themselves; they saturate.
int64_t SaturatingAdd(int64_t a, int64_t b);
int64_t SaturatingMultiply(int64_t a, int64_t b);  // a, b >= 0

// Extents of OpenVINO's operations: where the result fits no extent, any.
Dim AddOrAny(Dim a, Dim b);
Dim MultiplyOrAny(Dim a, Dim b);
// Shifts an extent; below zero it is zero.
Dim Shift(Dim dim, int64_t amount);

// Broadcasts by NumPy's rule: aligned at the last axis.
std::optional<PartialShape> BroadcastNumpy(const PartialShape& a, const PartialShape& b);
// PaddlePaddle's rule: `b` lies along `a` from `axis` on (-1: at its end), within
// it, and stretches to it; the result has the shape of `a`.
std::optional<PartialShape> BroadcastPdpd(const PartialShape& a, const PartialShape& b, int64_t axis);

// A window that slides along one axis.
struct WindowAxis {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_begin = 0;
  int64_t pad_end = 0;
  bool ceil = false;
  // With `ceil`: no window starts in the padding at the end.
  bool starts_inside = false;

  int64_t reach() const { return SaturatingAdd(SaturatingMultiply(kernel - 1, dilation), 1); }
};
// The number of places of the window: (extent + pads - reach) / stride + 1.
// Nothing if the window fits nowhere.
std::optional<Dim> WindowPlaces(Dim extent, const WindowAxis& axis);
// The extent over which `places` windows reach: (places - 1) * stride + reach
// - pads + extra; nothing if it is negative.
std::optional<Dim> WindowReach(Dim places, const WindowAxis& axis, int64_t extra);

}  // namespace nnefc::ir

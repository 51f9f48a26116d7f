#pragma once

#include "compiler/ir/ops/windows/sliding_window_shape.h"

namespace nnefc::ir::ops {

// Checks shared by the sliding-window operations of R 4.3: window.size, window.padding, window.stride,
// window.dilation, window.border, window.fit, window.output-shape.

// The name of an attribute with the window size that an operation's indices refer to, if it differs from the
// operation's own window (expand/coordinates.h).
inline constexpr std::string_view kIndexSize = "index_size";

// Checks that `border` is one of R 4.3's modes; `ignore` only if the operation supports it.
enum class IgnoreBorder : uint8_t { kAllowed, kForbidden };
[[nodiscard]] bool CheckBorder(InferContext& context, IgnoreBorder ignore);

// Checks that `padding`, `stride`, `dilation` have `count` items or none; strides and dilations are positive.
[[nodiscard]] bool CheckWindowLists(InferContext& context, int64_t count);
// Checks that the attribute `size` has `rank` positive items.
[[nodiscard]] bool CheckSize(InferContext& context, int64_t rank);

// Returns `input` down-scaled by the window, whose first item belongs to axis `first`. Emits kWindowFit,
// kWindowReach, kShapeOverflow.
[[nodiscard]] std::optional<PartialShape> Downscale(InferContext& context, const PartialShape& input,
                                                    int64_t first, const Window& window);
// Returns `input` up-scaled by the window. A non-empty attribute `output_shape` of the input's rank is the
// result, provided that it scales down to the input. Axes before `first` are those of `input`, where the
// caller stored the result's extents.
[[nodiscard]] std::optional<PartialShape> Upscale(InferContext& context, const PartialShape& input,
                                                  int64_t first, const Window& window);

}  // namespace nnefc::ir::ops

#pragma once

#include "compiler/ir/ops/sliding_window_shape.h"

namespace nnefc::ir::nnef {

// What the sliding-window operations check alike; the rule labels are those of
// R 4.3: window.size, window.padding, window.stride, window.dilation,
// window.border, window.fit, window.output-shape.

// The size of the window that the indices are numbered within that an operation
// makes or takes, where that is not its own (expand/coordinates.h).
inline constexpr std::string_view kIndexSize = "index_size";

// Checks that `border` is one of R 4.3's modes; `ignore` only where the
// operation has it.
enum class IgnoreBorder : uint8_t { kAllowed, kForbidden };
[[nodiscard]] bool CheckBorder(InferContext& context, IgnoreBorder ignore);

// Checks that `padding`, `stride`, `dilation` have `count` items or none, and
// that strides and dilations are positive.
[[nodiscard]] bool CheckWindowLists(InferContext& context, int64_t count);
// Checks that the attribute `size` has `rank` positive items.
[[nodiscard]] bool CheckSize(InferContext& context, int64_t rank);

// Scales the axes of `input` from `first` on down by the window, `first` being
// the axis of its first item. Emits kWindowFit, kWindowReach, kShapeOverflow.
std::optional<PartialShape> Downscale(InferContext& context, const PartialShape& input, int64_t first,
                                      const Window& window);
// Scales up. With a non-empty attribute `output_shape` of the input's rank
// the result is that, and the rule is that it scales down to the input. Axes
// before `first` are taken from `input`, which holds the result's there.
std::optional<PartialShape> Upscale(InferContext& context, const PartialShape& input, int64_t first,
                                    const Window& window);

}  // namespace nnefc::ir::nnef

#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/interval.h"
#include "compiler/ir/ops/arguments.h"
#include "compiler/ir/ops/windows/window_axis.h"

namespace nnefc::ir::ops {

using Padding = std::vector<std::pair<int64_t, int64_t>>;

enum class WindowProblem : uint8_t {
  kNone,
  kTooLarge,  // p + X + q < f_d
  kEmpty,     // the up-scaled extent would not be positive
  kOverflow,
};

struct WindowExtent {
  Dim extent;
  WindowProblem problem = WindowProblem::kNone;
};

// Returns f_d = (f - 1) * d + 1.
Wide DilatedSize(const WindowAxis& axis);
// Returns x = floor((p + X + q - f_d) / s) + 1, or x = ceil(X / s) if the padding is automatic.
WindowExtent DownscaledExtent(Dim upscaled, const WindowAxis& axis);
// Returns X = (x - 1) * s + f_d - (p + q). If the padding is automatic, X = x * s, the largest extent that
// scales down to x.
WindowExtent UpscaledExtent(Dim downscaled, const WindowAxis& axis);
// Returns the padding of an axis whose up-scaled extent is X: the explicit padding, or p = floor(t / 2),
// q = ceil(t / 2) with t = max((x - 1) * s + f_d - X, 0). Nothing if it does not fit 63 bits.
std::optional<std::pair<int64_t, int64_t>> ResolvedPadding(int64_t upscaled, const WindowAxis& axis);

// The range of input positions that an up-scaling window reads along an axis (R 4.3.1): the extremes of the
// integral values of (i + p - j * d) / s, i in [0, X) and j in [0, f). Nothing if no value is integral.
struct WindowReads {
  Wide first = 0;
  Wide last = 0;
};
std::optional<WindowReads> UpscalingReads(const WindowAxis& axis, Wide before, Wide upscaled);

// Completes the attributes `padding`, `stride`, `dilation` of a node that passed inference, for windows of
// `size`. Empty lists mean 1 and automatic padding.
Window WindowOf(const Node& node, llvm::ArrayRef<int64_t> size);
// Resolves the padding of every axis; `upscaled` has one extent for each.
std::optional<Padding> ResolvedPaddings(const Window& window, llvm::ArrayRef<int64_t> upscaled);

// The axis whose padding, in a provisional window, depends on an open extent of an external. Until the extent
// is known, the attribute yields the right output extent but wrong elements. Stored in the node's rt_info.
void SetOpenPadding(Graph& graph, NodeId node, int64_t axis);
std::optional<int64_t> OpenPadding(const Node& node);

}  // namespace nnefc::ir::ops

#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/interval.h"
#include "compiler/ir/ops/arguments.h"

namespace nnefc::ir::nnef {

using Padding = std::vector<std::pair<int64_t, int64_t>>;

// The parameters of a sliding window along one axis (R 4.3).
struct WindowAxis {
  int64_t size = 1;      // f
  int64_t stride = 1;    // s
  int64_t dilation = 1;  // d
  // (p, q); nothing: automatic.
  std::optional<std::pair<int64_t, int64_t>> padding;
};

// A window over all relevant axes, its lists completed.
using Window = std::vector<WindowAxis>;

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

// f_d = (f - 1) * d + 1.
Wide DilatedSize(const WindowAxis& axis);
// x = floor((p + X + q - f_d) / s) + 1; x = ceil(X / s) if padding is
// automatic.
WindowExtent DownscaledExtent(Dim upscaled, const WindowAxis& axis);
// X = (x - 1) * s + f_d - (p + q); X = x * s if padding is automatic: the
// largest extent that is scaled down to x.
WindowExtent UpscaledExtent(Dim downscaled, const WindowAxis& axis);
// The padding of an axis whose up-scaled extent is X: what was given, or
// p = floor(t / 2), q = ceil(t / 2) where t = max((x - 1) * s + f_d - X, 0).
// Nothing if it does not fit 63 bits.
std::optional<std::pair<int64_t, int64_t>> ResolvedPadding(int64_t upscaled, const WindowAxis& axis);

// What a window that scales up along an axis reads of its input (R 4.3.1): the
// lowest and the highest of (i + p - j * d) / s, i in [0, X) and j in [0, f),
// where that is whole. Nothing if it is nowhere whole.
struct WindowReads {
  Wide first = 0;
  Wide last = 0;
};
std::optional<WindowReads> UpscalingReads(const WindowAxis& axis, Wide before, Wide upscaled);

// Completes the attributes `padding`, `stride`, `dilation` of a node that
// passed inference, for windows of `size`: empty lists give 1 and automatic
// padding.
Window WindowOf(const Node& node, llvm::ArrayRef<int64_t> size);
// Resolves the padding of every axis; `upscaled` has one extent for each.
std::optional<Padding> ResolvedPaddings(const Window& window, llvm::ArrayRef<int64_t> upscaled);

// The axis along which the padding of a provisional window waits for an extent
// that an external leaves open: until then its attribute gives the right
// extent of the result and the wrong elements. Kept in the node's rt_info.
void SetOpenPadding(Graph& graph, NodeId node, int64_t axis);
std::optional<int64_t> OpenPadding(const Node& node);

}  // namespace nnefc::ir::nnef

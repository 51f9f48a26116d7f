#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/ops/windows/resolved_window.h"
#include "compiler/lower/node_lowering.h"

namespace nnefc::lower {

// A window of NNEF (R 4.3). Automatic padding is already resolved, unless the operation does it.
struct Window : ir::ops::ResolvedWindow {
  std::string border = "constant";
  // Padding is left to auto_pad `same_upper`, equal to the formula of R 4.3; the pads here are zero.
  bool same_upper = false;

  // Returns the window with the items of `axes`.
  Window Select(llvm::ArrayRef<int64_t> axes) const;
};

// The maximum number of positions along one axis for a table that is built at compile time.
inline constexpr int64_t kMaxPlaces = int64_t{1} << 22;

// Returns the window of non-overlapping blocks of `size` along the last dimensions of `rank`.
Window BlockWindow(std::vector<int64_t> size, size_t rank);

// The properties of an operation that determine its window.
struct WindowSource {
  std::vector<int64_t> size;
  PartialShape extents;                    // up-scaled extents along the window's dimensions
  bool backward = false;                   // `extents` are down-scaled: deconv, debox, desample
  std::vector<int64_t> output_shape = {};  // for backward operations, along the window's dimensions
  // Automatic padding may be left to the operation.
  bool may_defer = false;
};

// Reads `border`, `padding`, `stride` and `dilation` of the node. Automatic padding depends on the extent
// unless the stride is 1. If the extent is unknown, the window is `same_upper` if the source allows it;
// otherwise emits kUnknownExtent and returns nothing.
std::optional<Window> ReadWindow(NodeLowering& n, WindowSource source);
// Returns a window with default `stride` and `dilation` and automatic padding, as in normalizations and
// point-wise filters.
std::optional<Window> AutomaticWindow(NodeLowering& n, WindowSource source);

// Returns OpenVINO's pad mode for the borders 'constant', 'replicate', 'reflect' and 'reflect-even'; checked.
std::string_view PadMode(const std::string& border);
// Pads all dimensions explicitly; negative pads crop. Adds no operation if there is no padding.
OutputPort Pad(NodeLowering& n, OutputPort x, llvm::ArrayRef<int64_t> begin, llvm::ArrayRef<int64_t> end,
               std::string_view mode, double value = 0.0, std::string_view suffix = "pad");
// Pads by the padding and the border of `pad`, an NNEF node, but with the given value.
OutputPort PadBy(NodeLowering& n, const ir::Node& pad, OutputPort x, double value);
// Pads a tensor by the window's padding and border ('ignore': zeros), and removes the padding from the
// window. `leading` is the number of dimensions before the window's. Emits kUnknownExtent for `same_upper`.
OutputPort PadBeforehand(NodeLowering& n, OutputPort x, Window& window, size_t leading, double value = 0);
// Crops by the window's negative pads and removes them from the window. Does nothing if the border extends
// the whole tensor; PadBeforehand handles that.
OutputPort CropBeforehand(NodeLowering& n, OutputPort x, Window& window, size_t leading);

// A window over the spatial dimensions of a tensor [batch, channel, spatial..].
struct SpatialView {
  OutputPort x;
  PartialShape input;   // shape of x
  PartialShape output;  // shape of the result
  Window window;        // one item for each spatial dimension
};
// Applies the window of a view. If there are several results they have the same shape.
using SpatialFunction = std::function<std::vector<OutputPort>(const SpatialView& view)>;

// A window of full rank over `x`, and the shapes of input and output.
struct Sliding {
  OutputPort x;
  PartialShape input;
  PartialShape output;
  Window window;
};

// Applies a separable window in one step if it is trivial along the first two of three to five dimensions.
// Otherwise applies it once for each run of dimensions, on a tensor reshaped so that they are spatial:
// `size = [1, 5, 1, 1]` slides along the channels of [N, C, H, W] reshaped to [N, 1, C, H * W]. Emits
// kUnknownExtent if a reshape needs an unknown extent.
OutputPort SlideSeparable(NodeLowering& n, const Sliding& sliding, const SpatialFunction& apply);
// Applies a non-separable window in one step, on a tensor that is reshaped and transposed if needed. Returns
// no results if the window moves along more than three dimensions, or after an error.
std::vector<OutputPort> SlideOnce(NodeLowering& n, const Sliding& sliding, const SpatialFunction& apply);

}  // namespace nnefc::lower

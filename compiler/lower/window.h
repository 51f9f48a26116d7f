#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/lower/node_lowering.h"

namespace nnefc::lower {

// A window of NNEF (R 4.3) with an item in each list for each dimension that it
// slides along. Automatic padding has been computed, unless it is left to the
// operation.
struct Window {
  std::vector<int64_t> size = {};
  std::vector<int64_t> stride = {};
  std::vector<int64_t> dilation = {};
  std::vector<int64_t> pad_begin = {};
  std::vector<int64_t> pad_end = {};
  std::string border = "constant";
  // Pads are zeros here and those of auto_pad `same_upper`, which is the formula
  // of R 4.3, when the extents are known.
  bool same_upper = false;

  size_t rank() const { return size.size(); }
  // The extent over which the window reaches.
  int64_t reach(size_t axis) const { return (size[axis] - 1) * dilation[axis] + 1; }
  bool IsTrivial(size_t axis) const {
    return size[axis] == 1 && stride[axis] == 1 && pad_begin[axis] == 0 && pad_end[axis] == 0;
  }
  bool IsPadded() const;
  bool IsDilated() const;
  int64_t Volume() const;
  // The items of `axes`.
  Window Select(llvm::ArrayRef<int64_t> axes) const;
};

// The most places along one axis for which a table is made at compile time.
inline constexpr int64_t kMostPlaces = int64_t{1} << 22;

// Blocks of `size`, for the last dimensions of `rank`, that tile the tensor.
Window BlockWindow(std::vector<int64_t> size, size_t rank);

// What a window is read from.
struct WindowSource {
  std::vector<int64_t> size;
  PartialShape extents;                    // of the up-scaled tensor, along the window's dimensions
  bool backward = false;                   // `extents` are down-scaled: deconv, debox, desample
  std::vector<int64_t> output_shape = {};  // of a backward operation, along the window's dimensions
  // Whoever lowers the window can leave automatic padding to the operation.
  bool may_defer = false;
};

// Reads `border`, `padding`, `stride` and `dilation` of the node. Automatic
// padding needs the extent where the stride is not 1; where it is unknown, the
// window is `same_upper` if the source allows it, otherwise kUnknownExtent is
// emitted and nothing returned.
std::optional<Window> ReadWindow(NodeLowering& n, WindowSource source);
// The window with the defaults of `stride` and `dilation` and automatic
// padding, which are those of the normalizations and the point-wise filters.
std::optional<Window> AutomaticWindow(NodeLowering& n, WindowSource source);

// OpenVINO's pad mode for a border: 'constant', 'replicate', 'reflect' and
// 'reflect-even'; checked.
std::string_view PadMode(const std::string& border);
// Pads all dimensions explicitly; negative pads crop. No padding, no operation.
OutputPort Pad(NodeLowering& n, OutputPort x, llvm::ArrayRef<int64_t> begin, llvm::ArrayRef<int64_t> end,
               std::string_view mode, double value = 0.0, std::string_view suffix = "pad");
// Does the window's padding beforehand by its border ('ignore' by zeros) and
// takes it out of the window. `leading` is the number of dimensions before the
// window's. Emits kUnknownExtent for a window that is `same_upper`.
OutputPort PadBeforehand(NodeLowering& n, OutputPort x, Window& window, size_t leading, double value = 0);
// Crops by the negative items of the window's padding and takes them out; not
// where the border extends the whole tensor, which PadBeforehand does.
OutputPort CropBeforehand(NodeLowering& n, OutputPort x, Window& window, size_t leading);

// A window over the spatial dimensions of a tensor [batch, channel, spatial..].
struct SpatialView {
  OutputPort x;
  PartialShape input;   // of x
  PartialShape output;  // of what the window makes of it
  Window window;        // with an item for each spatial dimension
};
// Applies the window of a view. Several results have one and the same shape.
using SpatialFunction = std::function<std::vector<OutputPort>(const SpatialView& view)>;

// A window of full rank over `x`, and the extents before and after.
struct Sliding {
  OutputPort x;
  PartialShape input;
  PartialShape output;
  Window window;
};

// Applies a separable window: once if it is trivial along the first two of
// three to five dimensions; otherwise once for each run of dimensions, on a
// reshaped tensor in which they are spatial (`size = [1, 5, 1, 1]` slides along
// the channels of [N, C, H, W] seen as [N, 1, C, H * W]). Emits kUnknownExtent
// where a reshape needs an extent.
OutputPort SlideSeparable(NodeLowering& n, const Sliding& sliding, const SpatialFunction& apply);
// Applies a window that is not separable in one call, on a tensor reshaped and
// transposed where needed; no results if the window moves along more than three
// dimensions, or after a mistake.
std::vector<OutputPort> SlideOnce(NodeLowering& n, const Sliding& sliding, const SpatialFunction& apply);

}  // namespace nnefc::lower

#pragma once

#include <vector>

#include "compiler/lower/window.h"

namespace nnefc::lower {

// A filter [c, C/G, k..] of `groups` groups, where 0 is a group for each
// channel.
struct Filter {
  OutputPort port;
  PartialShape shape;
  int64_t groups = 1;
  ir::Dim result_channels = {};  // of a backward operation: C
};

// Convolution or GroupConvolution over the spatial dimensions of `input`, which
// has the shape `shape`; borders that OpenVINO has not are padded beforehand.
// Without spatial dimensions one is added for the while; `conv` of the set nnef
// where there are more than three.
OutputPort Convolve(NodeLowering& n, OutputPort input, const PartialShape& shape, const Filter& filter,
                    Window window);
// The sums of a node of `conv` with another input and filter, without its bias; nothing after a mistake.
std::optional<OutputPort> ConvolveAs(NodeLowering& n, OutputPort input, OutputPort filter);
// The backward operation. `output_shape` has the spatial extents of the result,
// or is empty.
OutputPort Deconvolve(NodeLowering& n, OutputPort input, const PartialShape& shape, const Filter& filter,
                      Window window, const std::vector<int64_t>& output_shape);
// Adds the bias that input `input` is, unless it was left out or is the literal
// zero.
OutputPort AddBias(NodeLowering& n, OutputPort x, int32_t input);
// The same for the bias of a convolution, whose singular extents beyond the
// rank of the result do not count (4.3.1).
OutputPort AddChannelBias(NodeLowering& n, OutputPort x, int32_t input);

}  // namespace nnefc::lower

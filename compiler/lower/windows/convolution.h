#pragma once

#include <vector>

#include "compiler/lower/windows/window.h"

namespace nnefc::lower {

// A filter [c, C/G, k..] with `groups` groups; 0 means one group per channel.
struct Filter {
  OutputPort port;
  PartialShape shape;
  int64_t groups = 1;
  ir::Dim result_channels = {};  // C, for a backward operation
};

// Adds Convolution or GroupConvolution over the spatial dimensions of `input`, whose shape is `shape`.
// Borders that OpenVINO does not support are padded beforehand. Without spatial dimensions a temporary one is
// inserted; with more than three, `conv` of the set nnef is added.
OutputPort Convolve(NodeLowering& n, OutputPort input, const PartialShape& shape, const Filter& filter,
                    Window window);
// Computes a `conv` node with another input and filter, without its bias. Returns nothing after an error.
[[nodiscard]] std::optional<OutputPort> ConvolveAs(NodeLowering& n, OutputPort input, OutputPort filter);
// Adds the backward operation. `output_shape` has the spatial extents of the result, or is empty.
OutputPort Deconvolve(NodeLowering& n, OutputPort input, const PartialShape& shape, const Filter& filter,
                      Window window, const std::vector<int64_t>& output_shape);
// Adds the bias in input `input` unless it was omitted or is the literal zero.
OutputPort AddBias(NodeLowering& n, OutputPort x, int32_t input);
// The same for a convolution's bias, where singular extents beyond the rank of the result are ignored
// (4.3.1).
OutputPort AddChannelBias(NodeLowering& n, OutputPort x, int32_t input);

}  // namespace nnefc::lower

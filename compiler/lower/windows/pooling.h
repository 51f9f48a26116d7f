#pragma once

#include "compiler/lower/windows/window.h"

namespace nnefc::lower {

// Computes `box`: sums or, if `normalize`, averages under a window of full rank. `shape` is the shape of `x`,
// `output` that of the result.
OutputPort Box(NodeLowering& n, OutputPort x, const PartialShape& shape, const PartialShape& output,
               Window window, bool normalize);
// Computes the local average of `x`, of shape `shape`, under a window of `size` with automatic padding,
// stride 1.
OutputPort LocalMean(NodeLowering& n, OutputPort x, const PartialShape& shape,
                     const std::vector<int64_t>& size);
// Computes `max_pool`. `non_negative`: no element of `x` is negative.
OutputPort MaxPool(NodeLowering& n, OutputPort x, const PartialShape& shape, const PartialShape& output,
                   Window window, bool non_negative);
// Returns whether a window may be entirely in the padding; OpenVINO rejects this or leaves the result
// undefined.
bool MayMissTensor(const Window& window);
// Pads `x` by -inf for a maximum with border 'ignore' whose windows may be entirely in the padding.
OutputPort PadByLowest(NodeLowering& n, OutputPort x, Window& window);
// Returns the number of tensor elements under the window at each position along one axis.
std::vector<int64_t> Overlaps(const Window& window, size_t axis, int64_t extent, int64_t places);
// Returns the attributes that MaxPool and AvgPool share.
ir::AttributeMap PoolAttributes(const Window& window);

}  // namespace nnefc::lower

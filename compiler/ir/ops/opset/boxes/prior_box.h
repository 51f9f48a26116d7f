#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace nnefc::ir::ops::opset {

// Returns the aspect ratios of a PriorBox: 1, then the distinct items of `aspect_ratio`, each followed by its
// inverse if `flip`.
std::vector<float> AspectRatios(const Node& node);

}  // namespace nnefc::ir::ops::opset

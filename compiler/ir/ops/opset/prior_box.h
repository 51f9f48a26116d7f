#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace nnefc::ir {

// The aspect ratios of a PriorBox: 1, then those of `aspect_ratio` without
// repetition, each followed by its inverse with `flip`.
std::vector<float> AspectRatios(const Node& node);

}  // namespace nnefc::ir

#pragma once

#include "compiler/expand/evaluation.h"

namespace nnefc::expand {

// Adds the graph's parameters and results in the order of their declaration; the frame is that of its body.
void AddGraphEnds(Evaluation& state);

}  // namespace nnefc::expand

#pragma once

#include "compiler/expand/evaluate/evaluation.h"

namespace nnefc::expand::evaluate {

// Adds the graph's parameters and results in the order of their declaration; the frame is that of its body.
void AddGraphEnds(Evaluation& state);

}  // namespace nnefc::expand::evaluate

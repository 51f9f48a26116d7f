#pragma once

#include "compiler/raise/node_raising.h"

namespace nnefc::raise {

// Rounds to the nearest integer, halves to the even one. NNEF's `round` rounds halves up, so that the form
// corrects it where the fraction is one half.
OutputPort RoundHalfToEven(NodeRaising& n, OutputPort x, std::string_view suffix = "even");

}  // namespace nnefc::raise

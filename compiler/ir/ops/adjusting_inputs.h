#pragma once

#include <optional>

#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics.h"

namespace nnefc::ir {

// The shape of what the inputs of a node adjust (Adjusts): the first input, or the product of a
// `linear`. Of unknown rank where that is not known.
PartialShape AdjustedShape(const Graph& graph, const Node& node);

// An axis along which an input of a node is repeated where `axis`, that of the numbers which it holds,
// would be meant.
struct MisplacedInput {
  int64_t found = 0;
  int64_t meant = 0;
};
// Finds an input that holds one number for each channel (Adjusts::kChannels) or column, but along
// another axis of the same extent: [C] instead of [1,C]. Vectors, and what a constant or variable holds.
std::optional<MisplacedInput> FindMisplaced(const Graph& graph, const Node& node, size_t input);

// Emits a warning for each input that adjusts a result and enlarges it, which broadcasting allows
// (R 4.2.2) and nobody means: a mean of shape [16] makes [16,16,8,8] of [1,16,8,8]. Once for a place
// in the document. Checked: the graph is inferred.
void CheckAdjustingInputs(const Graph& graph, Emitter& emitter);

}  // namespace nnefc::ir

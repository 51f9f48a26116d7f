#pragma once

#include <optional>

#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::ir::ops {

// Returns the shape that the inputs of a node adjust (Adjusts): that of the first input, or of the matrix
// product of a `linear`. Its rank is unknown if it cannot be determined.
PartialShape AdjustedShape(const Graph& graph, const Node& node);

// The axis of a vector's values after broadcasting, and the probably intended axis.
struct MisplacedInput {
  int64_t found = 0;
  int64_t meant = 0;
};
// Finds an input with one value per channel (Adjusts::kChannels) or column along the wrong axis of the same
// extent: [C] instead of [1,C]. Only vectors and the data of constants or variables are checked.
std::optional<MisplacedInput> FindMisplaced(const Graph& graph, const Node& node, size_t input);

// Emits a warning for each input that adjusts a result and also enlarges it. Broadcasting allows this
// (R 4.2.2), but it is hardly ever intended: a mean of shape [16] turns [1,16,8,8] into [16,16,8,8]. Each
// source range is reported once. Checked: the graph is inferred.
void CheckAdjustingInputs(const Graph& graph, Emitter& emitter);

}  // namespace nnefc::ir::ops

#pragma once

#include "compiler/device/profile.h"
#include "compiler/ir/graph.h"

namespace nnefc::device {

// Replaces attribute values that a profile forbids by others, with more operations where needed, that
// compute the same values: lists that are empty by numbers, padding by `pad`, dilation by filters with
// zeros, several axes of a reduction by one after another, transposed operands by `transpose`. Does so only
// if the profile allows all that results. Operations with unknown extents remain. Returns true if the graph
// changed. Messages and the text of the document refer to the same places as before.
bool ReplaceAttributes(ir::Graph& graph, const Profile& profile);

}  // namespace nnefc::device

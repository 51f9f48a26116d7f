#pragma once

#include "compiler/ir/graph.h"

namespace nnefc::ir::ops {

// Marks a convolution of a plan with bf16 multiplication whose images are stored in f32. It is an entry of
// rt_info; a file has no entry of this name.
void MarkF32Images(Graph& graph, NodeId node);
bool HasF32Images(const Node& node);

}  // namespace nnefc::ir::ops

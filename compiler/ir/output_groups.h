#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace nnefc::ir {

// The outputs [first, first + count) of a node that belong to one result of its operation.
struct OutputGroup {
  int32_t first = 0;
  int32_t count = 1;
  bool array = false;
};
// Returns the groups of OpInfo::outputs in order. At most one is an array; it has the remaining outputs.
std::vector<OutputGroup> OutputGroups(const Node& node);

}  // namespace nnefc::ir

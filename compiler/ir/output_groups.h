#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace nnefc::ir {

// The outputs [first, first + count) of a node that one result of its operation
// holds.
struct OutputGroup {
  int32_t first = 0;
  int32_t count = 1;
  bool array = false;
};
// The results of OpInfo::outputs in their order: one array at most, which has
// what the others leave.
std::vector<OutputGroup> OutputGroups(const Node& node);

}  // namespace nnefc::ir

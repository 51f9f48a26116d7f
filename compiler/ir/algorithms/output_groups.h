#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace nnefc::ir {

// The outputs [first, first + count) of a node that belong to one result of its operation.
struct OutputGroup {
  int32_t first = 0;
  int32_t count = 1;
  bool array = false;  // the result is an array of tensors
};
// Returns a group for each result of OpInfo::outputs, in order. At most one result is an array, which has the
// outputs that the others do not need. Omitted trailing results have groups without outputs.
std::vector<OutputGroup> OutputGroups(const Node& node);

}  // namespace nnefc::ir

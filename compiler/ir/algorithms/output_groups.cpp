// The grouping of a node's outputs by the results of its operation.

#include "compiler/ir/algorithms/output_groups.h"

#include <algorithm>

namespace nnefc::ir {

std::vector<OutputGroup> OutputGroups(const Node& node) {
  const std::vector<std::string>& outputs = node.info().outputs;
  const int32_t others = static_cast<int32_t>(outputs.size()) - 1;
  std::vector<OutputGroup> groups;
  int32_t first = 0;
  for (const std::string& name : outputs) {
    OutputGroup group{.first = first, .count = 1, .array = name.ends_with("[]")};
    if (group.array) group.count = std::max(node.num_outputs() - others, 0);
    group.count = std::min(group.count, node.num_outputs() - first);
    first += group.count;
    groups.push_back(group);
  }
  return groups;
}

}  // namespace nnefc::ir

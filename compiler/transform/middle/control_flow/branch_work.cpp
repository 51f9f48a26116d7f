// The cost model of branches.

#include "compiler/transform/middle/control_flow/branch_work.h"

#include <algorithm>

namespace nnefc::transform::middle {

namespace {

int64_t Elements(const ir::Output& output) {
  return std::min(output.shape.volume().value_or(0), kRealWork);
}

}  // namespace

int64_t WorkOf(const ir::Graph& graph, const ir::Node& node) {
  if (!node.bodies().empty() || node.info().is_heavy()) return kRealWork;
  if (node.info().work == ir::Work::kNone) return 0;
  int64_t work = 0;
  for (ir::OutputPort input : node.inputs()) work = std::max(work, Elements(graph.output(input)));
  for (const ir::Output& output : node.outputs()) work = std::max(work, Elements(output));
  return work;
}

}  // namespace nnefc::transform::middle

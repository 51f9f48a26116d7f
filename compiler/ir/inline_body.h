#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace nnefc::ir {

// What a body became in the graph around it.
struct InlinedBody {
  std::vector<NodeId> nodes;        // copies of the body's, in order
  std::vector<OutputPort> outputs;  // what the outputs of the node are; not valid where the body has none
};

// Copies the nodes of a body of an If, of no cycle (checked), into the graph of the If,
// which stays as it is: parameters are what feeds the If.
InlinedBody InlineBody(Graph& graph, NodeId node, size_t body);

}  // namespace nnefc::ir

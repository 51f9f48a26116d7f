#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace nnefc::ir {

// What a body became in the graph around it.
struct InlinedBody {
  std::vector<NodeId> nodes;        // copies of the body's, in order
  std::vector<OutputPort> results;  // what its results are, in order
};

// Copies the nodes of a body, of no cycle (checked), into the graph of the node that has
// it, which stays as it is. What stands for the parameters of the body is given, in order.
InlinedBody InlineBody(Graph& graph, NodeId node, size_t body, llvm::ArrayRef<OutputPort> parameters);

// The parameters of a body of an If: what feeds it.
std::vector<OutputPort> ParametersOfBranch(const Graph& graph, NodeId node, size_t body);
// Of the results of a body of an If, what the outputs of the If are; not valid where the body has none.
std::vector<OutputPort> OutputsOfBranch(const Node& node, size_t body, llvm::ArrayRef<OutputPort> results);

}  // namespace nnefc::ir

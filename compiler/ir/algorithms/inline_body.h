#pragma once

#include <vector>

#include "compiler/ir/graph.h"

namespace nnefc::ir {

// The copy of a body in the surrounding graph.
struct InlinedBody {
  std::vector<NodeId> nodes;        // copies of the body's nodes, in topological order
  std::vector<OutputPort> results;  // values of the body's results, in order
};

// Copies the nodes of an acyclic body (checked) into the graph of the node that contains it. The body is not
// changed. `parameters` are the values of its parameters, in order.
InlinedBody InlineBody(Graph& graph, NodeId node, size_t body, llvm::ArrayRef<OutputPort> parameters);

// Returns the inputs that feed the parameters of a body of an If.
std::vector<OutputPort> ParametersOfBranch(const Graph& graph, NodeId node, size_t body);
// Maps the results of a body of an If to the outputs of the If. Outputs without a result are invalid ports.
std::vector<OutputPort> OutputsOfBranch(const Node& node, size_t body, llvm::ArrayRef<OutputPort> results);

}  // namespace nnefc::ir

#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/transform/graph.h"

namespace nnefc::transform {

// What replaces a match: new nodes by names of their own.
using SubGraph = std::map<std::string, Node>;
// An end of an edge by alias and port, in a match and in what replaces it.
using PortName = std::pair<std::string, int32_t>;

// The node of an alias; an Error that names those that there are.
Node NodeOf(const SubGraph& nodes, const std::string& alias);

// Removes nodes, consumers before producers. An Error if another node reads one
// of them.
void RemoveNodes(Graph& graph, const std::vector<Node>& nodes);

}  // namespace nnefc::transform

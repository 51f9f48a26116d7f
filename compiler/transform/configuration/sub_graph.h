#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/transform/graph.h"

namespace nnefc::transform {

// The replacement of a match: new nodes by names.
using SubGraph = std::map<std::string, Node>;
// An end of an edge, by alias and port, in a match or its replacement.
using PortName = std::pair<std::string, int32_t>;

// Returns the node of an alias; throws an Error that lists the known aliases.
Node NodeOf(const SubGraph& nodes, const std::string& alias);

// Removes nodes, consumers before producers. Throws an Error if another node reads one of them.
void RemoveNodes(Graph& graph, const std::vector<Node>& nodes);

}  // namespace nnefc::transform

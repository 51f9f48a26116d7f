#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace nnefc::expand::print {

// Consecutive operations of a graph that compute the same as others, with other tensors.
struct BlockInstance {
  std::vector<ir::NodeId> nodes;          // in order
  std::vector<ir::OutputPort> arguments;  // tensors from outside, by first use
  std::vector<ir::OutputPort> results;    // tensors that are used outside, in order
};

// A block that occurs at least twice. All instances have the same operations, attributes, element types, and
// connections among their nodes, arguments and results.
struct RepeatedBlock {
  std::string name;  // derived from its operations: `conv_relu_block`
  std::vector<BlockInstance> instances;
};

// Finds repeated blocks that do not overlap, those that save more statements first. `order` has the nodes of
// the graph so that each follows its inputs. Between the nodes of an instance are at most externals,
// variables and constants outside of it. Takes time linear in the size of the graph, with blocks
// of fewer operations in large graphs.
std::vector<RepeatedBlock> FindRepeatedBlocks(const ir::Graph& graph, llvm::ArrayRef<ir::NodeId> order);

// Returns the block as a graph of Parameters, operations and Results with names for a fragment.
std::unique_ptr<ir::Graph> BodyOf(const RepeatedBlock& block, const ir::Graph& graph);

}  // namespace nnefc::expand::print

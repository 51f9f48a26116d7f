#pragma once

#include <memory>
#include <string>
#include <utility>

#include "compiler/ir/graph.h"
#include "llvm/ADT/DenseMap.h"

namespace nnefc::ir {

enum class Bodies : uint8_t { kClone, kLeave };

// Adds a copy of `node`, possibly of another graph, with other inputs. Copies attributes, names, rt_info,
// output types and values, the origin and, with kClone, the bodies. Tensors share their bytes.
NodeId CopyNode(Graph& target, const Node& node, llvm::ArrayRef<OutputPort> inputs,
                Bodies bodies = Bodies::kClone);

// Copies nodes of one graph into another.
class NodeCopier {
 public:
  explicit NodeCopier(Graph& target) : target_(target) {}

  // Maps `from` of the source graph to `to` of the target.
  void Map(OutputPort from, OutputPort to) { mapped_[{from.node.index, from.index}] = to; }
  // Returns the copy of an output, or the port that it was mapped to; otherwise an invalid port.
  OutputPort Mapped(OutputPort from) const { return mapped_.lookup({from.node.index, from.index}); }
  // Copies a node whose inputs were copied or mapped; checked.
  NodeId Copy(const Node& node, Bodies bodies = Bodies::kClone);

 private:
  Graph& target_;
  llvm::DenseMap<std::pair<int32_t, int32_t>, OutputPort> mapped_;
};

// The name of an additional result of a copy, with its value in the source graph.
using NamedPort = std::pair<std::string, OutputPort>;

// Returns a deep copy of an acyclic graph (checked) with additional results after the existing ones. The
// recursion depth is the nesting depth of bodies.
std::unique_ptr<Graph> Clone(const Graph& graph, llvm::ArrayRef<NamedPort> more_results = {});

}  // namespace nnefc::ir

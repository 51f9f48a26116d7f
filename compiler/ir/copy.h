#pragma once

#include <memory>
#include <string>
#include <utility>

#include "compiler/ir/graph.h"
#include "llvm/ADT/DenseMap.h"

namespace nnefc::ir {

enum class Bodies : uint8_t { kClone, kLeave };

// Adds a node like `node`, which may be of another graph, on other inputs:
// attributes, names, rt_info, types and values of outputs, origin and, if
// asked for, deep copies of bodies. Bytes of tensors are shared.
NodeId CopyNode(Graph& target, const Node& node, llvm::ArrayRef<OutputPort> inputs,
                Bodies bodies = Bodies::kClone);

// Copies nodes of one graph into another.
class NodeCopier {
 public:
  explicit NodeCopier(Graph& target) : target_(target) {}

  // Lets `to` of the target stand for `from`.
  void Map(OutputPort from, OutputPort to) { mapped_[{from.node.index, from.index}] = to; }
  // What stands for the output of a node that was copied or mapped; an invalid
  // port if nothing does.
  OutputPort Mapped(OutputPort from) const { return mapped_.lookup({from.node.index, from.index}); }
  // Copies a node whose inputs were copied or mapped; checked.
  NodeId Copy(const Node& node, Bodies bodies = Bodies::kClone);

 private:
  Graph& target_;
  llvm::DenseMap<std::pair<int32_t, int32_t>, OutputPort> mapped_;
};

// A value of a graph that is to be a result of its copy, by the name it gets.
using NamedPort = std::pair<std::string, OutputPort>;

// A deep copy of a graph without a cycle (checked), with further results behind
// its own. Recursion goes as deep as bodies are nested.
std::unique_ptr<Graph> Clone(const Graph& graph, llvm::ArrayRef<NamedPort> more_results = {});

}  // namespace nnefc::ir

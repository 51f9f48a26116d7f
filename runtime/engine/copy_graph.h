#pragma once

#include <memory>
#include <string>
#include <utility>

#include "compiler/ir/graph.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"

namespace nnefc::runtime {

// Copies nodes of one graph into another, with their bodies. Bytes of
// constants are shared where they are aligned for kernels.
class NodeCopier {
 public:
  explicit NodeCopier(ir::Graph& target) : target_(target) {}

  // Lets `value` of the target stand for the only output of `node`.
  void Map(ir::NodeId node, ir::OutputPort value) { mapped_[node] = value; }
  // What stands for an output of a node that was copied or mapped.
  ir::OutputPort Mapped(ir::OutputPort port) const;
  // Copies a node that is neither Parameter nor Result; its inputs were copied.
  ir::NodeId Copy(const ir::Node& node);

 private:
  ir::Graph& target_;
  llvm::DenseMap<ir::NodeId, ir::OutputPort> mapped_;
};

// A value of a graph that is to be a result of its copy, by the name it gets.
using NamedPort = std::pair<std::string, ir::OutputPort>;

// A deep copy of a graph without a cycle, with further results behind its own.
// Recursion goes as deep as bodies are nested.
std::unique_ptr<ir::Graph> CopyGraph(const ir::Graph& source, llvm::ArrayRef<NamedPort> more_results = {});

}  // namespace nnefc::runtime

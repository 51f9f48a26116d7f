#pragma once

#include <vector>

#include "compiler/ir/algorithms/fold.h"
#include "compiler/ir/graph.h"
#include "compiler/raise/raise.h"
#include "llvm/ADT/SmallVector.h"

namespace nnefc::raise {

// The values of the ports of a graph that do not depend on its inputs. A value is computed once, unless it is
// much larger than the values that it is computed from.
class ConstantValues {
 public:
  // `order` has the nodes in topological order.
  ConstantValues(const ir::Graph& graph, llvm::ArrayRef<ir::NodeId> order, const RaiseOptions& options);

  // Returns the value, or null if it is unknown.
  const TensorValue* Find(ir::OutputPort port) const;
  // True if the value is computed from a constant of type f16.
  bool IsFromHalf(ir::OutputPort port) const { return from_half_[static_cast<size_t>(port.node.index)]; }

 private:
  void Evaluate(const ir::Graph& graph, const ir::Node& node, const RaiseOptions& options);

  std::vector<llvm::SmallVector<TensorValue, 1>> values_;  // index: node, output; invalid if unknown
  std::vector<bool> from_half_;                            // index: node
};

}  // namespace nnefc::raise

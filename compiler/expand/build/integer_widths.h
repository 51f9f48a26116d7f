#pragma once

#include <map>
#include <utility>

#include "compiler/ir/graph.h"

namespace nnefc::expand::build {

// The data types of tensors of integers that a document for tract declares narrower than 64 bits. The graph
// has them as i64; arithmetic on them is modulo two to the power of their width.
class IntegerWidths {
 public:
  // Returns the type of an output; i64 unless it is narrower.
  ElementType Find(ir::OutputPort port) const {
    const auto found = types_.find({port.node.index, port.index});
    return found == types_.end() ? ElementType::kI64 : found->second;
  }
  void Set(ir::OutputPort port, ElementType type) {
    if (type != ElementType::kI64) types_[{port.node.index, port.index}] = type;
  }

 private:
  std::map<std::pair<int32_t, int32_t>, ElementType> types_;  // keyed by node and output
};

}  // namespace nnefc::expand::build

#pragma once

#include <string>

#include "compiler/ir/graph.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::expand::print {

// Returns the call of the operation of `node` in a document for tract, such as
// `tract_core_cast(x, to = 'i64')`; empty if tract reads the standard one. `inputs` are the texts of its
// tensors.
std::string TractCall(const ir::Graph& graph, const ir::Node& node, llvm::ArrayRef<std::string> inputs);

}  // namespace nnefc::expand::print

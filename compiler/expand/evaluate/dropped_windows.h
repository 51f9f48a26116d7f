#pragma once

#include "compiler/expand/generics.h"

namespace nnefc::expand::evaluate {

// Returns true if a pooling with border 'ignore' has a window that is completely in the border. Its maximum
// is -inf, but its body computes another value: `sample` reads at a position, and such a window has none.
bool DropsWindows(const semantics::Signature& signature, llvm::ArrayRef<Value> arguments,
                  const SymbolTable& symbols, const ir::Graph& graph);

}  // namespace nnefc::expand::evaluate

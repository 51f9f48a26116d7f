#pragma once

#include "compiler/expand/instantiate.h"

namespace nnefc::expand {

// True if a pooling that ignores the border has a window that lies wholly in
// it: its maximum is -inf, and its body gives another value, since `sample`
// takes what it finds at a position, and no position is in such a window.
bool LosesWindows(const Signature& signature, llvm::ArrayRef<Value> arguments, const SymbolTable& symbols,
                  const ir::Graph& graph);

}  // namespace nnefc::expand

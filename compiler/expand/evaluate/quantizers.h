#pragma once

#include <vector>

#include "compiler/expand/quantization.h"
#include "compiler/expand/value.h"
#include "compiler/semantics/checked_document.h"
#include "llvm/ADT/DenseMap.h"

namespace nnefc::expand::evaluate {

// A quantization that follows a tensor's assignment (R 7.1, P 7.1): an operation and its arguments after the
// tensor.
struct Quantizer {
  struct Argument {
    Value value;  // for a tensor with axes: its elements, row-major
    Value shape;  // shape of a tensor with axes; poison: `value` is the argument
    bool has_axes() const { return !shape.poison(); }
  };
  semantics::Callee callee;
  std::vector<Argument> arguments;
  SourceRange range;  // of its line in graph.quant
};

struct Quantizers {
  llvm::DenseMap<Symbol, Quantizer> by_name;
  semantics::Callee constant;  // creates tensors with axes
};

// Creates the quantizers for `lines`, the lines of the document's graph.quant file.
Quantizers MakeQuantizers(const semantics::CheckedDocument& document,
                          llvm::ArrayRef<TensorQuantization> lines, const SymbolTable& symbols, Heap& heap);

}  // namespace nnefc::expand::evaluate

#pragma once

#include <vector>

#include "compiler/expand/quantization.h"
#include "compiler/expand/value.h"
#include "compiler/semantics/checked_document.h"
#include "llvm/ADT/DenseMap.h"

namespace nnefc::expand {

// What is computed of a tensor behind the statement that assigns it (R 7.1, P 7.1):
// a quantization operation, and its arguments behind the tensor.
struct Quantizer {
  struct Argument {
    Value value;  // of a tensor with axes: its items, row-major
    Value shape;  // of a tensor with axes; poison: `value` is the argument
    bool has_axes() const { return !shape.poison(); }
  };
  Callee callee;
  std::vector<Argument> arguments;
  SourceRange place;  // in graph.quant
};

struct Quantizers {
  llvm::DenseMap<Symbol, Quantizer> by_name;
  Callee constant;  // makes tensors with axes
};

// `lines` are of the document's graph.quant file.
Quantizers MakeQuantizers(const CheckedDocument& document, llvm::ArrayRef<TensorQuantization> lines,
                          const SymbolTable& symbols, Heap& heap);

}  // namespace nnefc::expand

#pragma once

#include <string>

#include "compiler/ir/op_schema.h"
#include "compiler/semantics/check_document.h"

namespace nnefc::plugin {

// Fills the row of an NNEF operation with the inputs, attributes and results of its declaration in a library.
// Returns an error if the declaration is not that of an operation, otherwise an empty string.
std::string FillFromDeclaration(ir::OpInfo& row, const semantics::Callee& declared,
                                const SymbolTable& symbols);

}  // namespace nnefc::plugin

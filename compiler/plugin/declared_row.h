#pragma once

#include <string>

#include "compiler/ir/op_schema.h"
#include "compiler/semantics/check_document.h"

namespace nnefc::plugin {

// Gives the row of an NNEF operation the inputs, attributes and results that its
// declaration in a library has. Returns what keeps the declaration from being one of an
// operation; empty if nothing does.
std::string FillFromDeclaration(ir::OpInfo& row, const Callee& declared, const SymbolTable& symbols);

}  // namespace nnefc::plugin

#pragma once

#include <string>
#include <string_view>

#include "compiler/semantics/check_context.h"
#include "compiler/semantics/foreign/foreign_names.h"
#include "compiler/semantics/suggestions/proposal.h"

namespace nnefc::semantics::suggestions {

// Proposes a repair for the undefined name `name` at `range`: a value of another framework, an operation
// without arguments, a misspelt name of the body.
Proposal ForUndefinedName(const CheckContext& check, SourceRange range, Symbol name);

// Proposes, in this order: another spelling of a document's name, an equivalent of a foreign operation,
// another spelling of a standard operation, the nearest name.
Proposal ForUndeclaredOperation(const CheckContext& check, const ast::InvocationExpr& invocation);

// Proposes a fragment of the document for the string `name` at `range`, which names none.
Proposal ForUnknownBody(const CheckContext& check, SourceRange range, std::string_view name);

// Returns "; write `softmax(neg(x), axes = ..)`" if the dialect has the operations of the formula.
std::string DescribeForeign(const CheckContext& check, std::string_view name,
                            llvm::ArrayRef<const foreign::ForeignOperation*> rows);

// Returns the assigned identifier that is probably a misspelling of the result; null if there is none.
const Scope::Entry* FindMisspelt(const CheckContext& check, Symbol result);

}  // namespace nnefc::semantics::suggestions

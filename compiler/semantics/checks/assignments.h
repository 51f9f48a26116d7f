#pragma once

#include "compiler/semantics/check_context.h"

namespace nnefc::semantics::checks {

// Assigns a value of type `type` to `left`. `right` is the expression of that value if known, otherwise the
// one that contains it.
void Assign(CheckContext& check, ExprId left, TypeId type, ExprId right, bool is_whole);

}  // namespace nnefc::semantics::checks

#pragma once

#include "compiler/semantics/check_context.h"

namespace nnefc::semantics::checks {

// The use of a value; an invocation used as an argument is chained.
enum class Use : uint8_t { kValue, kArgument };

// Checks an expression, records the types of it and of its parts, and returns its type: Error after a report.
//
// Recursion is bounded by the syntax: brackets nest at most --max-nesting deep, and chains of operators,
// subscripts and branches are processed in loops.
TypeId CheckExpr(CheckContext& check, ExprId id, Use use = Use::kValue);

}  // namespace nnefc::semantics::checks

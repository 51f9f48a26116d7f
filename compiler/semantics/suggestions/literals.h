#pragma once

#include "compiler/semantics/check_context.h"

namespace nnefc::semantics::suggestions {

// The number of items up to which the fix of a list is written out.
inline constexpr size_t kMaxFixedItems = 64;

// Adds fixes for a literal, or an array or tuple of literals, in the wrong notation for the expected type:
// `2` for `2.0`, `(1,2)` for `[1,2]`.
void FixLiteral(const CheckContext& check, ExprId id, TypeId expected, DiagnosticBuilder& builder);

// Adds fixes for integers where scalars are expected: `2` -> `2.0`, `n` -> `scalar(n)`.
void FixScalars(const CheckContext& check, ExprId id, TypeId expected, DiagnosticBuilder& builder);

// Returns a hint for the value `id`, where FixLiteral has no fix.
std::string HintFor(const CheckContext& check, ExprId id, TypeId expected);

// Adds fixes for the first and last character of `range`.
void ReplaceBrackets(SourceRange range, std::string_view open, std::string_view close,
                     DiagnosticBuilder& builder);

}  // namespace nnefc::semantics::suggestions

#pragma once

#include "compiler/semantics/types.h"

namespace nnefc::semantics {

// Returns true if a value of type `from` is accepted where `to` is expected (1.0.5, 3.3.1 "Type Casting";
// provisional, 3.3.2). Ratified: a primitive for a tensor of it or for `?`, a bound tensor for `tensor<?>`,
// any tensor for `tensor<>`, the empty array for any array. Provisional: `scalar` and `logical` for `tensor`.
// Both: arrays and tuples item by item. An Error type is castable to and from every type.
bool IsCastable(const TypeTable& types, const ast::Dialect& dialect, TypeId from, TypeId to);

// Returns the type to which both can be cast, such as `tensor<scalar>` for `scalar` and `tensor<scalar>`;
// invalid if there is none.
TypeId CommonType(TypeTable& types, const ast::Dialect& dialect, TypeId a, TypeId b);

}  // namespace nnefc::semantics

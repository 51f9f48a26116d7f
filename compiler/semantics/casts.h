#pragma once

#include "compiler/semantics/types.h"

namespace nnefc {

// Tells whether a value of type `from` may stand where `to` is expected (1.0.5,
// 3.3.1 "Type Casting"; provisional, 3.3.2). Ratified: a primitive for a tensor
// of it or for `?`, a bound tensor for `tensor<?>`, any tensor for `tensor<>`,
// the empty array for any array. Provisional: `scalar` and `logical` for
// `tensor`. Both: arrays and tuples item by item. An Error type goes with all.
bool IsCastable(const TypeTable& types, const ast::Dialect& dialect, TypeId from, TypeId to);

// The type that both can be cast to, such as `tensor<scalar>` of `scalar` and
// `tensor<scalar>`; invalid if there is none.
TypeId CommonType(TypeTable& types, const ast::Dialect& dialect, TypeId a, TypeId b);

}  // namespace nnefc

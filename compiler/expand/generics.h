#pragma once

#include "compiler/expand/value.h"
#include "compiler/semantics/checked_document.h"

namespace nnefc::expand {

// Returns the kind of a value: kInteger .. kString for primitives, a tensor's elements, or the first item of
// an array; kError for an empty array.
semantics::TypeKind ElementKind(const Value& value, const ir::Graph& graph);

// Deduces the type of `?` from the arguments, or from its default; returns kError if neither determines it.
semantics::TypeKind DeduceGeneric(const semantics::CheckedDocument& document,
                                  const semantics::Signature& signature, llvm::ArrayRef<Value> arguments,
                                  const ir::Graph& graph);

// Converts a value to the form of a parameter's or result's type: a literal for a tensor becomes
// tensor_typed().
Value CastTo(const semantics::TypeTable& types, semantics::TypeId type, Value value, Heap& heap);

}  // namespace nnefc::expand

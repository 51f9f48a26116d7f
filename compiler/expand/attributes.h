#pragma once

#include <optional>

#include "compiler/expand/value.h"
#include "compiler/semantics/types.h"

namespace nnefc::expand {

// What a document calls an argument and its type, for messages.
struct ArgumentWords {
  std::string_view parameter;
  std::string_view operation;
  std::string_view type;
};

// Converts a value to the attribute that a parameter of `type` takes; `generic`
// stands for `?` in it. Nothing, with `fault` filled, if the value is of
// another type or an extent in it is not specified. `words` are the fault's.
std::optional<ir::Attribute> ToAttribute(const Value& value, const TypeTable& types, TypeId type,
                                         TypeKind generic, const ArgumentWords& words, Fault& fault);

// The words of the `dtype` attribute: "scalar", "integer", "logical", "string".
std::string_view DataTypeText(TypeKind kind);
// The element type of a tensor of a data type; kDynamic if there is none.
ElementType ElementTypeOf(TypeKind kind);
TypeKind TypeKindOf(ElementType type);

}  // namespace nnefc::expand

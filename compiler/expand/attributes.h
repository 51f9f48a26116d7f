#pragma once

#include <optional>

#include "compiler/expand/value.h"
#include "compiler/semantics/types.h"

namespace nnefc::expand {

// Names of an argument and its type in the document, for messages.
struct ArgumentWords {
  std::string_view parameter;
  std::string_view operation;
  std::string_view type;
};

// Converts a value to an attribute of a parameter of type `type`, with `?` bound to `generic`. Fills `fault`
// and returns nothing if the value has another type or an unknown extent. `words` are used in the fault's
// message.
std::optional<ir::Attribute> ToAttribute(const Value& value, const semantics::TypeTable& types,
                                         semantics::TypeId type, semantics::TypeKind generic,
                                         const ArgumentWords& words, Fault& fault);

// Returns the value of the `dtype` attribute: "integer", "logical", "string", or "scalar" for all other
// kinds.
std::string_view DataTypeText(semantics::TypeKind kind);
// Returns the element type of tensors of a data type: i64, f32, boolean or string; kDynamic if there is none.
ElementType ElementTypeOf(semantics::TypeKind kind);
// Returns the data type of an element type; kError if there is none.
semantics::TypeKind TypeKindOf(ElementType type);

}  // namespace nnefc::expand

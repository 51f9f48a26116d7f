#pragma once

#include <string_view>

#include "compiler/syntax/ast.h"

namespace nnefc::ast::parse {

// The intended type of an unknown type name.
struct IntendedType {
  std::string_view name;    // empty if none is known
  bool is_certain = false;  // the name in another language, or a single typo
};

IntendedType IntendedTypeOf(std::string_view name, const Dialect& dialect);

// Returns true if `name` between `<` and `>(` is intended as a type, not as a value: `external<integer>(..)`,
// `external<float>(..)`.
bool MayNameType(std::string_view name);

}  // namespace nnefc::ast::parse

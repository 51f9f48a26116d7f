#pragma once

#include <string_view>

#include "compiler/syntax/ast.h"

namespace nnefc::parse {

// The type that another language calls `name`, or that is misspelt so; empty
// if there is none.
std::string_view MeantType(std::string_view name, const ast::Dialect& dialect);

// True if `name` between `<` and `>(` is meant as a type, not as a value:
// `external<integer>(..)`, `external<float>(..)`.
bool MayNameType(std::string_view name);

}  // namespace nnefc::parse

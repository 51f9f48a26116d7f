#pragma once

#include <string_view>

#include "compiler/syntax/ast.h"

namespace nnefc::parse {

// The type that a word which is none was meant as.
struct MeantType {
  std::string_view name;    // empty if none is known
  bool is_certain = false;  // what another language calls it, or one slip
};

MeantType MeantTypeOf(std::string_view name, const ast::Dialect& dialect);

// True if `name` between `<` and `>(` is meant as a type, not as a value:
// `external<integer>(..)`, `external<float>(..)`.
bool MayNameType(std::string_view name);

}  // namespace nnefc::parse

#pragma once

#include <string>

#include "compiler/ir/attribute.h"
#include "compiler/semantics/types.h"
#include "compiler/syntax/ast.h"

namespace nnefc::expand::print {

// Returns the shortest literal that reads back as the same number: `0.5`, `1.0`.
std::string ScalarLiteral(double value);
// Returns a string literal, `'label'`, with quotes and `\` escaped.
std::string StringLiteral(std::string_view text);

// Returns an attribute as a literal of `type`: `[(0, 0), (1, 1)]`.
std::string AttributeLiteral(const ir::Attribute& attribute, const semantics::TypeTable& types,
                             semantics::TypeId type);
// Same without a declared type: an array of pairs of integers is printed with tuples.
std::string AttributeLiteral(const ir::Attribute& attribute);
// Returns the declared type for an attribute that prints like this one; empty for an empty array.
std::string AttributeTypeText(const ir::Attribute& attribute);

// Returns a literal of a document in the notation of the functions above; empty for other expressions.
std::string DefaultLiteral(const ast::Document& document, ast::ExprId expr, const SymbolTable& symbols);

}  // namespace nnefc::expand::print

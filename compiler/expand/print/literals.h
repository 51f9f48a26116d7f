#pragma once

#include <string>

#include "compiler/ir/attribute.h"
#include "compiler/semantics/types.h"
#include "compiler/syntax/ast.h"

namespace nnefc::print {

// The shortest literal that reads back as the same number: `0.5`, `1.0`.
std::string ScalarLiteral(double value);
// `'label'`, with `\` before what would end it.
std::string StringLiteral(std::string_view text);

// An attribute as a literal of `type`: `[(0, 0), (1, 1)]`.
std::string AttributeLiteral(const ir::Attribute& attribute, const TypeTable& types, TypeId type);
// The same where no declaration tells the type: an array of pairs of integers
// holds tuples.
std::string AttributeLiteral(const ir::Attribute& attribute);
// The type that a declaration gives to an attribute that prints so; empty for
// an empty array.
std::string AttributeTypeText(const ir::Attribute& attribute);

// A literal of a document in the form of the above; empty if it is something
// else.
std::string DefaultLiteral(const ast::Document& document, ast::ExprId expr, const SymbolTable& symbols);

}  // namespace nnefc::print

#pragma once

#include <optional>

#include "compiler/expand/value.h"
#include "compiler/syntax/ast.h"

namespace nnefc::expand::values {

// Evaluates a built-in function (chapter 3.3.3). `shape_of` reads the shapes that are inferred while `graph`
// grows.
std::optional<Value> EvaluateBuiltin(ast::Builtin builtin, const Value& argument, const ast::Dialect& dialect,
                                     const ir::Graph& graph, Heap& heap, Fault& fault);

}  // namespace nnefc::expand::values

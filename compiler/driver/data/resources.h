#pragma once

#include "compiler/package/model.h"
#include "compiler/support/context.h"
#include "compiler/syntax/ast.h"

namespace nnefc::driver {

// Replaces each call `tract_resource_get(label, key)` by a value from the model's JSON files, in documents
// with `extension tract_registry tract_resource`. `label` names `label.json`; `key` is a path in it, such as
// `$.layers[0].size`. A number, string, logical value or nested array of them becomes a literal. `path` leads
// to the document's sub-model inside `model`, "" for the model itself. Documents without this extension, or
// with a fragment of that name, are unchanged. Emits diagnostics and returns false on errors; a call with an
// error becomes an ast::ErrorExpr.
[[nodiscard]] bool ReplaceResources(ast::Document& document, const package::ModelContainer& model,
                                    std::string_view path, Context& context);

}  // namespace nnefc::driver

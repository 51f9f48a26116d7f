#pragma once

#include "compiler/package/model.h"
#include "compiler/support/context.h"
#include "compiler/syntax/ast.h"

namespace nnefc {

// Puts what JSON files of the model hold in the place of
// `tract_resource_get(label, key)`, in documents with `extension tract_registry
// tract_resource`: `label` names `label.json`, `key` is a path such as
// `$.layers[0].size` in it. A number, string, logical value or nested array of
// them stands for itself. `path` leads to the document's own model inside `model`; ""
// if it is that itself. False after a mistake, which was emitted.
[[nodiscard]] bool ReplaceResources(ast::Document& document, const ModelContainer& model,
                                    std::string_view path, Context& context);

}  // namespace nnefc

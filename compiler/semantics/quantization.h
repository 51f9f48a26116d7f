#pragma once

#include <memory>
#include <string_view>

#include "compiler/semantics/check_document.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace nnefc::semantics {

// Checks a quantization file (graph.quant, chapter 5.3), parsed as DocumentKind::kQuantization in the dialect
// of its model. Keys should be unique names of the model's activations; deviations are warnings. Each value
// invokes an operation on the tensor named by its key, with all other arguments named. A nested array literal
// is accepted for a tensor parameter (ratified).
//
// Operations are looked up in `model`, then in its library. In the resulting bindings the first slot, the
// quantized tensor, is invalid.
[[nodiscard]] std::unique_ptr<CheckedDocument> CheckQuantization(
    std::unique_ptr<const ast::Document> document, const CheckedDocument& model,
    llvm::function_ref<bool(std::string_view)> is_activation, const StandardLibrary& library,
    Context& context);

}  // namespace nnefc::semantics

#pragma once

#include <memory>
#include <string_view>

#include "compiler/semantics/check_document.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace nnefc {

// Checks a quantization file (graph.quant, chapter 5.3), parsed as
// DocumentKind::kQuantization in the dialect of its model. Keys should be names
// of the model's activations and stand once, which are warnings; each value is
// an invocation of an operation on the tensor that its key names, with all
// arguments but that tensor given by name. Where the operation takes a tensor, a
// nested array literal may stand (ratified).
//
// Operations are looked up in `model`, then in its library. The bindings of the
// result leave the slot of the quantized tensor, the first, invalid.
[[nodiscard]] std::unique_ptr<CheckedDocument> CheckQuantization(
    std::unique_ptr<const ast::Document> document, const CheckedDocument& model,
    llvm::function_ref<bool(std::string_view)> is_activation, const StandardLibrary& library,
    Context& context);

}  // namespace nnefc

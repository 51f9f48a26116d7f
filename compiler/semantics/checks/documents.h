#pragma once

#include "compiler/semantics/check_context.h"

namespace nnefc::semantics::checks {

// Checks a user's document.
std::unique_ptr<CheckedDocument> CheckModel(CheckContext& check, const CheckOptions& options);
// Checks a library, whose fragments may be primitives.
std::unique_ptr<CheckedDocument> CheckLibrary(CheckContext& check);

}  // namespace nnefc::semantics::checks

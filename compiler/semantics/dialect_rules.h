#pragma once

#include "compiler/semantics/deviations.h"
#include "compiler/support/context.h"
#include "compiler/syntax/ast.h"

namespace nnefc::semantics {

// The kind of document to check; each has its own dialect rules.
enum class CheckedKind : uint8_t { kModel, kLibrary, kQuantization };

// Reports constructs that the grammar accepts but the document's dialect does not (chapter 3.2 of both
// specifications): constructs of the other dialect or of an extension that is not enabled, keywords of the
// dialect used as names. Each diagnostic names the dialect and, if there is one, the fix. Constructs that
// lenient mode accepts are added to `deviations`.
void CheckDialectRules(const ast::Document& document, const ast::Dialect& dialect, CheckedKind kind,
                       Context& context, Deviations& deviations);

// Adds a fix-it for a missing extension: its line after the version and the other extensions.
void FixExtension(const ast::Document& document, std::string_view extension, DiagnosticBuilder& builder);

}  // namespace nnefc::semantics

#pragma once

#include "compiler/semantics/deviations.h"
#include "compiler/support/context.h"
#include "compiler/syntax/ast.h"

namespace nnefc {

// What kind of document is checked; each has its own dialect rules.
enum class CheckedKind : uint8_t { kModel, kLibrary, kQuantization };

// Reports what the grammar lets through and the document's dialect has not
// (chapter 3.2 of both specifications): constructs of the other dialect, constructs of an extension
// that is not enabled, keywords of the dialect used as names. Each diagnostic
// names the dialect and, where there is one, the repair.
// What lenient reading takes goes to `deviations`.
void CheckDialectRules(const ast::Document& document, const ast::Dialect& dialect, CheckedKind kind,
                       Context& context, Deviations& deviations);

// Adds the repair of a missing extension: its line behind the version and the
// extensions before it.
void FixExtension(const ast::Document& document, std::string_view extension, DiagnosticBuilder& builder);

}  // namespace nnefc

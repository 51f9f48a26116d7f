#pragma once

#include "compiler/expand/expand.h"
#include "compiler/lint/settings.h"
#include "compiler/package/model.h"
#include "compiler/semantics/checked_document.h"
#include "compiler/support/context.h"

namespace nnefc::lint {

// The input of lint.
struct LintInput {
  const semantics::CheckedDocument& checked;
  const expand::ExpandedDocument& expanded;
  // The tensor files next to the document; null if there are none to check.
  const package::ModelContainer* model = nullptr;
  // The graph.quant file; null if there is none.
  const semantics::CheckedDocument* quantization = nullptr;
};

// Runs every lint rule over a document and adds the findings to the diagnostics. Then applies the settings to
// all diagnostics so far, including the warnings of the stages. Disabled ones and those allowed by a comment
// are removed; the others are set to their level. A finding of level error counts as an error of the emitter.
//
// For a document with mistakes, only findings that the mistakes cannot affect are reported: constructs in the
// text, and unused names in declarations without hidden names.
void Lint(const LintInput& input, const Settings& settings, Context& context);

}  // namespace nnefc::lint

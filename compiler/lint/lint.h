#pragma once

#include "compiler/expand/expand.h"
#include "compiler/lint/settings.h"
#include "compiler/package/model.h"
#include "compiler/semantics/checked_document.h"
#include "compiler/support/context.h"

namespace nnefc::lint {

// What lint looks at.
struct LintInput {
  const CheckedDocument& checked;
  const Expanded& expanded;
  // The tensor files beside the document; null if there are none to look at.
  const ModelContainer* model = nullptr;
  // The graph.quant file; null if there is none.
  const CheckedDocument* quantization = nullptr;
};

// Runs every lint rule over a document and adds what they find to the
// diagnostics. Then all that was said so far - the warnings of the stages too -
// is settled: what is switched off or allowed by a comment is dropped, the rest
// gets its level. A finding of level error is an error of the emitter.
//
// Of a document with mistakes only what these leave no doubt of is told: what
// stands in the text, and what is unused in a declaration whose names could all
// be read.
void Lint(const LintInput& input, const Settings& settings, Context& context);

}  // namespace nnefc::lint

#pragma once

#include "compiler/ir/graph.h"
#include "compiler/lint/settings.h"
#include "compiler/package/model.h"
#include "compiler/semantics/checked_document.h"
#include "compiler/support/context.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::lint {

// What lint looks at.
struct LintInput {
  const CheckedDocument& checked;
  // Of NNEF operations, after mistakes what could be made
  // (ExpandOptions::keep_incomplete); null if there is none.
  const ir::Graph* graph = nullptr;
  // The tensor files beside the document; null if there are none to look at.
  const ModelContainer* model = nullptr;
  // A graph.quant file that was read without mistakes; null if there is none.
  const ast::Document* quantization = nullptr;
  // Mistakes that were found while `graph` was made, and are not among the
  // diagnostics.
  llvm::ArrayRef<Diagnostic> untold = {};
  // The document holds no mistake and the graph is complete.
  bool is_right = false;
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

// The stages `parse` and `check` of a compilation: the document's syntax tree and its checked form.

#include "compiler/driver/data/resources.h"
#include "compiler/driver/stages.h"
#include "compiler/syntax/parse.h"

namespace nnefc::driver {

Parsed ParseModel(const Opened& opened, const CompileOptions& options, Context& context) {
  Context own(context, context.emitter.room());
  Parsed parsed;
  auto document = ast::ParseDocument(opened.graph_text, {.dialect = options.dialect}, own);
  parsed.complete = ReplaceResources(*document, *opened.model, "", own) && document->complete;
  parsed.document = std::move(document);
  parsed.diagnostics = own.emitter.diagnostics();
  context.emitter.Take(std::move(own.emitter));
  return parsed;
}

Checked CheckModel(Parsed& parsed, const CompileOptions& options, Context& context) {
  Context own(context, context.emitter.room());
  Checked checked;
  checked.document = semantics::CheckDocument(std::move(parsed.document), options.plugins->library(),
                                              {.graph = options.graph, .leniency = options.leniency}, own);
  checked.complete = checked.document->complete();
  checked.diagnostics = own.emitter.diagnostics();
  context.emitter.Take(std::move(own.emitter));
  return checked;
}

}  // namespace nnefc::driver

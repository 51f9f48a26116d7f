#include "compiler/expand/build/reporter.h"

namespace nnefc::expand::build {

void Reporter::Deviate(const Rule& rule, const OpPlan& plan, std::string_view argument, const Site& site,
                       std::string message) {
  // Libraries of extensions may deviate.
  if (site.document != nullptr && site.document->is_library()) return;
  const SourceRange written = SitePlaces(plan, site).Find(argument, -1);
  deviations_.Note(rule, written.valid() ? written : site.range, std::move(message));
}

SourceRange Reporter::OutsideLibrary(SourceRange range, const Site& site) {
  if (site.document == nullptr || !site.document->is_library() || range.file != site.document->ast().file)
    return range;
  const FileId library = range.file;
  for (const ir::Frame* frame = site.frame.get(); frame != nullptr && range.file == library;
       frame = frame->parent.get()) {
    range = frame->call_site;
  }
  return range;
}

// Emits a diagnostic. One inside the body of a library's fragment moves to the invocation in the document,
// with a note at the original range.
void Reporter::EmitAt(Diagnostic diagnostic, const Site& site) {
  const SourceRange inside = diagnostic.range;
  diagnostic.range = OutsideLibrary(inside, site);
  if (diagnostic.range.file != inside.file) {
    std::erase_if(diagnostic.notes,
                  [&](const DiagnosticNote& note) { return note.range == diagnostic.range; });
    diagnostic.notes.insert(
        diagnostic.notes.begin(),
        {inside, fmt::format("in the {}body of `{}`, here",
                             site.document->library() == nullptr ? "standard library's " : "",
                             site.frame->fragment)});
  }
  context_.emitter.Add(std::move(diagnostic));
}

void Reporter::Report(const Fault& fault, const Site& site) {
  EmitAt({.rule = fault.rule,
          .severity = fault.rule->severity,
          .range = site.range,
          .message = fault.message,
          .notes = ir::StackNotes(site.frame),
          .fixes = {}},
         site);
  stopped_ |= fault.fatal;
}

void Reporter::Report(const Fault& fault, const OpPlan& plan, const Site& site) {
  Site argument_site = site;
  if (!fault.argument.empty()) {
    const SourceRange range = SitePlaces(plan, site).Find(fault.argument, fault.item);
    if (range.valid()) argument_site.range = range;
  }
  Report(fault, argument_site);
}

}  // namespace nnefc::expand::build

// The order and the sections of diagnostics, as shown to the user.

#include "compiler/driver/reported_diagnostics.h"

#include "compiler/support/diagnostics/sections.h"
#include "compiler/support/diagnostics/sort_diagnostics.h"

namespace nnefc::driver {

ReportedDiagnostics CollectDiagnostics(const Compilation& compilation) {
  ReportedDiagnostics reported{.rules = {},
                               .diagnostics = SortedByLocation(compilation.context().emitter.diagnostics())};
  const semantics::CheckedDocument* document = compilation.checked();
  if (document == nullptr) return reported;
  const char specification = document->dialect().specification;
  for (Diagnostic& diagnostic : reported.diagnostics) {
    reported.rules.push_back(*diagnostic.rule);
    reported.rules.back().section = SectionsIn(reported.rules.back().section, specification);
    diagnostic.rule = &reported.rules.back();
  }
  return reported;
}

}  // namespace nnefc::driver

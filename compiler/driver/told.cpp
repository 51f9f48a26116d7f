#include "compiler/driver/told.h"

#include "compiler/support/order_of_place.h"
#include "compiler/support/sections.h"

namespace nnefc {

ToldDiagnostics Tell(const Compilation& compilation) {
  ToldDiagnostics told{.rules = {},
                       .diagnostics = InOrderOfPlace(compilation.context().emitter.diagnostics())};
  const CheckedDocument* document = compilation.checked();
  if (document == nullptr) return told;
  const char specification = document->dialect().specification;
  for (Diagnostic& diagnostic : told.diagnostics) {
    told.rules.push_back(*diagnostic.rule);
    told.rules.back().section = SectionsIn(told.rules.back().section, specification);
    diagnostic.rule = &told.rules.back();
  }
  return told;
}

}  // namespace nnefc

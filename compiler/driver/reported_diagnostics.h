#pragma once

#include <deque>
#include <vector>

#include "compiler/driver/compilation.h"
#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::driver {

// Diagnostics prepared for the user: sorted by their position in the text, with only those sections of each
// rule that belong to the document's specification.
struct ReportedDiagnostics {
  std::deque<Rule> rules;  // owns the rules of the diagnostics
  std::vector<Diagnostic> diagnostics;
};

// Returns the diagnostics of `compilation` so far.
ReportedDiagnostics CollectDiagnostics(const Compilation& compilation);

}  // namespace nnefc::driver

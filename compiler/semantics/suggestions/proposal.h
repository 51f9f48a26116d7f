#pragma once

#include <string>
#include <vector>

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::semantics::suggestions {

// The end of a message, such as "; did you mean `relu`?", and the edits that the message proposes. Both are
// empty if nothing is known.
struct Proposal {
  std::string hint = {};
  std::vector<FixIt> fixes = {};
  Applicability applicability = Applicability::kSafe;

  void AddFixes(DiagnosticBuilder& builder) const {
    for (const FixIt& fix : fixes) builder.Fix(fix.range, fix.text, applicability);
  }
};

}  // namespace nnefc::semantics::suggestions

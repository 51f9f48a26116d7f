#pragma once

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc {

// Returns "error", "warning" or "note", as used in text, JSON and the SARIF level.
inline const char* SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      return "note";
  }
  return "none";
}

}  // namespace nnefc

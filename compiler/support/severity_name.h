#pragma once

#include "compiler/support/diagnostics.h"

namespace nnefc {

// "error", "warning" or "note": in text, JSON and as the level of SARIF.
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

#pragma once

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::raise {

#define NNEFC_RAISE_RULES(RULE)                               \
  RULE(kNoForm, "raise.no-form", kError, "R 4")               \
  RULE(kOpenExtent, "raise.open-extent", kError, "R 4.1.1")   \
  RULE(kIndexRange, "raise.index-range", kWarning, "R 4.5.7") \
  RULE(kShapeChanged, "raise.shape-changed", kError, "internal")
NNEFC_DEFINE_RULES(kRaiseRules, NNEFC_RAISE_RULES)

}  // namespace nnefc::raise

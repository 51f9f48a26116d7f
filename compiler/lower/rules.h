#pragma once

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::lower {

#define NNEFC_LOWER_RULES(RULE)                                    \
  RULE(kUnknownRank, "lower.unknown-rank", kError, "")             \
  RULE(kUnknownExtent, "lower.unknown-extent", kError, "")         \
  RULE(kBodyNesting, "lower.body-nesting", kError, "internal")     \
  RULE(kWindowTooLarge, "lower.window-too-large", kError, "R 4.3") \
  RULE(kLoweringFailed, "lower.failed", kError, "plug-in")         \
  RULE(kStateInBody, "lower.state-in-body", kError, "")            \
  RULE(kShapeChanged, "lower.shape-changed", kError, "internal")
NNEFC_DEFINE_RULES(kLowerRules, NNEFC_LOWER_RULES)

}  // namespace nnefc::lower

#pragma once

#include "compiler/support/diagnostics.h"

namespace nnefc::lower {

#define NNEFC_LOWER_RULES(RULE)                                               \
  RULE(kUnknownRank, "lower.unknown-rank", kError, "")                        \
  RULE(kUnknownExtent, "lower.unknown-extent", kError, "")                    \
  RULE(kUpdateOfNonVariable, "lower.update-of-non-variable", kError, "R 4.8") \
  RULE(kVariableData, "lower.variable-data", kError, "R 4.1.3")               \
  RULE(kWindowTooLarge, "lower.window-too-large", kError, "R 4.3")            \
  RULE(kBorderMode, "lower.border-mode", kError, "R 4.3")                     \
  RULE(kQuantizationBits, "lower.quantization-bits", kError, "R 4.9.5")       \
  RULE(kShapeChanged, "lower.shape-changed", kError, "")
NNEFC_DEFINE_RULES(kLowerRules, NNEFC_LOWER_RULES)

}  // namespace nnefc::lower

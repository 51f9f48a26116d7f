#pragma once

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::transform {

// clang-format off
#define NNEFC_TRANSFORM_RULES(RULE)                                                   \
  RULE(kUnknownName, "transform.unknown-name", kWarning, "")                          \
  RULE(kUnknown, "transform.unknown", kError, "")                                     \
  RULE(kNotice, "transform.notice", kWarning, "")                                     \
  RULE(kMismatch, "transform.mismatch", kError, "")                                   \
  RULE(kConfigSyntax, "transform.config-syntax", kError, "")                          \
  RULE(kConfigValue, "transform.config-value", kError, "")                            \
  RULE(kConfigKey, "transform.config-key", kWarning, "")                              \
  RULE(kConfigSharedId, "transform.config-shared-id", kWarning, "")                   \
  RULE(kConfigUnused, "transform.config-unused", kWarning, "")                        \
  RULE(kCycle, "transform.cycle", kError, "plug-in")                                  \
  RULE(kDuplicate, "transform.duplicate", kError, "plug-in")                          \
  RULE(kMisplaced, "transform.misplaced", kError, "plug-in")                          \
  RULE(kFailed, "transform.failed", kError, "plug-in")                                \
  RULE(kInvalidGraph, "transform.invalid-graph", kError, "plug-in")                   \
  RULE(kShapeChanged, "transform.shape-changed", kError, "plug-in")
// clang-format on
NNEFC_DEFINE_RULES(kTransformRules, NNEFC_TRANSFORM_RULES)

}  // namespace nnefc::transform

#pragma once

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::lint {

// The rules of `nnefc lint` in addition to those of `nnefc check`, for valid documents. The severity is the
// default level.
#define NNEFC_LINT_RULES(RULE)                                                                  \
  /* unused.cpp */                                                                              \
  RULE(kUnusedTensor, "lint.unused-tensor", kWarning, "")                                       \
  RULE(kUnusedVariable, "lint.unused-variable", kWarning, "")                                   \
  RULE(kUnusedInput, "lint.unused-input", kWarning, "")                                         \
  RULE(kUnusedParameter, "lint.unused-parameter", kWarning, "")                                 \
  RULE(kUnusedFragment, "lint.unused-fragment", kWarning, "")                                   \
  /* deprecated.cpp: constructs that are deprecated, or tolerated in the provisional dialect */ \
  RULE(kShapeOf, "lint.shape-of", kWarning, "R 3.3.3")                                          \
  RULE(kNamedTensorArgument, "lint.named-tensor-argument", kWarning, "R 3.3.2")                 \
  RULE(kPositionalAttribute, "lint.positional-attribute", kWarning, "P 3.3.1")                  \
  RULE(kLinearQuantize, "lint.linear-quantize", kWarning, "R 4.9.5")                            \
  RULE(kSliceEndZero, "lint.slice-end-zero", kWarning, "R 4.5.4")                               \
  RULE(kChainedPower, "lint.chained-power", kWarning, "R 3.3.3, P 3.3.3")                       \
  /* defaults.cpp: defaults that surprise */                                                    \
  RULE(kPoolBorder, "lint.pool-border", kWarning, "R 4.9.3, P 4.8.3")                           \
  RULE(kAutomaticPadding, "lint.automatic-padding", kNote, "R 4.3, P 4.3")                      \
  /* data.cpp: a document and its tensor files */                                               \
  RULE(kVariableWithoutData, "lint.variable-without-data", kWarning, "R 5.1, P 5.1")            \
  RULE(kDataWithoutVariable, "lint.data-without-variable", kWarning, "R 5.1, P 5.1")            \
  RULE(kDataShape, "lint.data-shape", kError, "R 5.2, P 5.2")                                   \
  RULE(kDataType, "lint.data-type", kError, "R 5.2.1, P 5.2")                                   \
  RULE(kLabelCharacters, "lint.label-characters", kWarning, "P 4.1.3")                          \
  RULE(kLabelCase, "lint.label-case", kWarning, "R 4.1.3, P 4.1.3")                             \
  /* redundant.cpp */                                                                           \
  RULE(kRedundantTranspose, "lint.redundant-transpose", kWarning, "R 4.5.2, P 4.5.2")           \
  RULE(kRedundantReshape, "lint.redundant-reshape", kWarning, "R 4.5.1, P 4.5.1")               \
  /* broadcast.cpp */                                                                           \
  RULE(kBatchBroadcast, "lint.batch-broadcast", kWarning, "R 4.2.2, P 4.2.2")                   \
  RULE(kChannelAxis, "lint.channel-axis", kWarning, "R 4.9, P 4.8")                             \
  /* windows.cpp */                                                                             \
  RULE(kWindowAxes, "lint.window-axes", kWarning, "R 4.3, P 4.3")                               \
  /* branches.cpp */                                                                            \
  RULE(kBranchShapes, "lint.branch-shapes", kWarning, "R 4.2.3")                                \
  /* comments.cpp */                                                                            \
  RULE(kShapeComment, "lint.shape-comment", kWarning, "")                                       \
  /* portability.cpp */                                                                         \
  RULE(kNotRatified, "lint.not-ratified", kNote, "")                                            \
  RULE(kKhronosParser, "lint.khronos-parser", kWarning, "")                                     \
  RULE(kUndefinedLayer, "lint.undefined-layer", kWarning, "P C")                                \
  /* allow.cpp */                                                                               \
  RULE(kBadAllow, "lint.bad-allow", kWarning, "")                                               \
  RULE(kUnusedAllow, "lint.unused-allow", kWarning, "")
NNEFC_DEFINE_RULES(kLintRules, NNEFC_LINT_RULES)

// Mistakes in a `.nnefc.json`; these rules cannot be disabled.
#define NNEFC_LINT_CONFIG_RULES(RULE)                    \
  RULE(kConfigSyntax, "config.syntax", kError, "")       \
  RULE(kConfigKey, "config.unknown-key", kError, "")     \
  RULE(kConfigTwice, "config.duplicate-key", kError, "") \
  RULE(kConfigRule, "config.unknown-rule", kError, "")   \
  RULE(kConfigValue, "config.value", kError, "")
NNEFC_DEFINE_RULES(kLintConfigRules, NNEFC_LINT_CONFIG_RULES)

}  // namespace nnefc::lint

#pragma once

#include "compiler/support/diagnostics.h"

namespace nnefc::ir {

// The text form of graphs, and graphs of any operations.
#define NNEFC_IR_RULES(RULE)                                           \
  RULE(kTextSyntax, "ir-text.syntax", kError, "")                      \
  RULE(kTextNesting, "ir-text.nesting", kError, "")                    \
  RULE(kTextUnknownOperation, "ir-text.unknown-operation", kError, "") \
  RULE(kTextUnknownValue, "ir-text.unknown-value", kError, "")         \
  RULE(kTextRepeatedValue, "ir-text.repeated-value", kError, "")       \
  RULE(kTextElidedConstant, "ir-text.elided-constant", kError, "")     \
  RULE(kTextConstant, "ir-text.constant", kError, "")                  \
  RULE(kTextInvalidGraph, "ir-text.invalid-graph", kError, "")         \
  /* of operations that plug-ins bring */                              \
  RULE(kShapeFunctionFailed, "node.shape-function", kError, "plug-in")
NNEFC_DEFINE_RULES(kIrRules, NNEFC_IR_RULES)

}  // namespace nnefc::ir

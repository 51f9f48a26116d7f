#pragma once

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::ir {

// Rules of the text form of graphs, and of graphs of any operations.
#define NNEFC_IR_RULES(RULE)                                           \
  RULE(kTextSyntax, "ir-text.syntax", kError, "")                      \
  RULE(kTextNesting, "ir-text.nesting", kError, "")                    \
  RULE(kTextUnknownOperation, "ir-text.unknown-operation", kError, "") \
  RULE(kTextUnknownValue, "ir-text.unknown-value", kError, "")         \
  RULE(kTextRepeatedValue, "ir-text.repeated-value", kError, "")       \
  RULE(kTextElidedConstant, "ir-text.elided-constant", kError, "")     \
  RULE(kTextConstant, "ir-text.constant", kError, "")                  \
  RULE(kTextInvalidGraph, "ir-text.invalid-graph", kError, "")         \
  /* operations of plug-ins */                                         \
  RULE(kShapeFunctionFailed, "node.shape-function", kError, "plug-in")
NNEFC_DEFINE_RULES(kIrRules, NNEFC_IR_RULES)

}  // namespace nnefc::ir

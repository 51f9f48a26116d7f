#pragma once

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::api {

// The rules of diagnostics that the command line and the libraries report, or the Python package
// (`convert.*`), and no module of the compiler.
#define NNEFC_TOOL_RULES(RULE)                                       \
  RULE(kMisuse, "cli.misuse", kError, "tool")                        \
  RULE(kEnvironment, "environment", kError, "tool")                  \
  RULE(kUnreadableModel, "convert.unreadable-model", kError, "tool") \
  RULE(kUnsupportedOperation, "convert.unsupported-operation", kError, "tool")
NNEFC_DEFINE_RULES(kToolRules, NNEFC_TOOL_RULES)

}  // namespace nnefc::api

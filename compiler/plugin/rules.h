#pragma once

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::plugin {

// clang-format off
#define NNEFC_PLUGIN_RULES(RULE)                                          \
  RULE(kUnreadable, "plugin.unreadable", kError, "")                      \
  RULE(kNoPlugin, "plugin.not-a-plug-in", kError, "plug-in")              \
  RULE(kOtherInterface, "plugin.interface", kError, "plug-in")            \
  RULE(kNotLoadable, "plugin.not-loadable", kError, "plug-in")            \
  RULE(kRegistrationFailed, "plugin.registration", kError, "plug-in")     \
  RULE(kDuplicateEntry, "plugin.duplicate", kError, "plug-in")            \
  RULE(kWrongEntry, "plugin.entry", kError, "plug-in")                    \
  RULE(kLibraryText, "plugin.library-text", kError, "plug-in")
// clang-format on
NNEFC_DEFINE_RULES(kPluginRules, NNEFC_PLUGIN_RULES)

}  // namespace nnefc::plugin

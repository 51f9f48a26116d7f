#pragma once

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::upgrade {

// Parts of the old document that an upgraded document does not preserve.
// clang-format off
#define NNEFC_UPGRADE_RULES(RULE)                                      \
  RULE(kAlreadyRatified, "upgrade.already-ratified", kNote,    "")     \
  RULE(kFragmentExpanded, "upgrade.fragment-expanded", kWarning, "")   \
  RULE(kStatementExpanded, "upgrade.statement-expanded", kWarning, "") \
  RULE(kDataLeftOut, "upgrade.data-left-out", kWarning, "")
// clang-format on
NNEFC_DEFINE_RULES(kUpgradeRules, NNEFC_UPGRADE_RULES)

}  // namespace nnefc::upgrade

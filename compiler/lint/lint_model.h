#pragma once

#include "compiler/driver/compilation.h"
#include "compiler/lint/settings.h"

namespace nnefc::lint {

// Lints the document of a compilation that was run through Stage::kExpand, or up
// to the first stage that found a mistake.
void LintModel(Compilation& compilation, const Settings& settings);

}  // namespace nnefc::lint

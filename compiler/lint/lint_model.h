#pragma once

#include "compiler/driver/compilation.h"
#include "compiler/lint/settings.h"

namespace nnefc::lint {

// Lints the document of a compilation that ran through Stage::kExpand, or up to the first stage with an
// error.
void LintModel(driver::Compilation& compilation, const Settings& settings);

}  // namespace nnefc::lint

#pragma once

#include <string>

#include "compiler/plugin/plugins.h"
#include "tools/nnefc/paint.h"

namespace nnefc::cli {

// Prints what an operation is: signature with defaults, formula, section, what
// it is lowered to and an example; or of `control_flow` the manual of that
// extension; or a fragment of a plug-in. False if there is no such operation.
bool ExplainOperation(const std::string& name, const plugin::Plugins& plugins, bool as_json,
                      const Painter& paint);

}  // namespace nnefc::cli
